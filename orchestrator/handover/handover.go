package handover

import (
	"fmt"

	"paw/orchestrator/errs"
	"paw/session/history"
	"paw/session/turn"
)

// Brief is a conversation as another CLI gets it told: the first prompt of an
// agent that takes over.
type Brief struct {
	Agent, CLI, Branch string // of the agent that it takes over from
	Turn               int    // whose end it starts from
	Messages           []history.Message
	Ends               map[int]string // by the index of a turn's last message: how it ended, if not well
	Elsewhere          []int          // turns until then that were in another conversation
	State              State
	Paths              *Relocation // to the worktree of the new agent
	Prompt             string      // of the user for the new agent, "" for none
	Limit              int         // bytes, without Prompt
}

// head is what comes before the conversation. The paths in that have been counted already.
func (b Brief) head() string {
	head := turn.HandOverLine(b.CLI, b.Agent, b.Branch) + fmt.Sprintf(`
This worktree starts where its turn %d ended: on the same commit, with the files that it had not committed.
`, b.Turn)
	if b.Paths != nil && b.Paths.count > 0 {
		head += "It worked in a worktree of its own, which is not yours: paths in that are written below as paths in yours, " + b.Paths.to + ".\n"
	}
	if state := b.State.text(b.Limit / 4); state != "" {
		head += "\nThis is what it had done by then:\n" + state + "\n"
	}
	if n := len(b.Elsewhere); n > 0 {
		were := "were"
		if n == 1 {
			were = "was"
		}
		head += fmt.Sprintf("%s (%s) %s in another conversation, as after /clear: what was said there is not told here.\n",
			errs.Counted(n, "earlier turn"), someNumbers(b.Elsewhere), were)
	}
	return head + "What was said until then follows, for you to know. Do not answer it, and do not do again what it asks for.\n\n"
}

func (b Brief) foot() string {
	if b.Prompt == "" {
		return "This is the end of that conversation. Do nothing yet: answer only that you are ready, and wait for the user's next prompt.\n"
	}
	return turn.HandOverTask()
}
