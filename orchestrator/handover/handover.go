// Package handover writes the first prompt of an agent that takes over from another one: what that one had done, and what
// was said until then, with its paths as those of the new worktree.
//
// It is pure: it imports sessions, turns and histories, and reads nothing. Begin with Brief and Build.
package handover

import (
	"fmt"
	"math"
	"strings"

	"paw/config/display"
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

// cuts are how many bytes of a text may stay, from one try to the next.
var cuts = []int{math.MaxInt, 16 << 10, 8 << 10, 4 << 10, 2 << 10, 1 << 10, 512, 256, 128, 64, 0}

// Build writes the brief and tells how many of the messages are in it. It
// has at most Limit bytes, and Prompt whole.
//
// Of a conversation that is too long, first the results of tools are cut, all at
// the same length; then the oldest messages are left out, but not the first
// prompt, the last one and the last answer; then these are cut.
func Build(b Brief) (text string, told int) {
	parts := parts(b)
	head, foot := b.head(), b.foot()
	room := b.Limit - len(head) - len(foot)
	for _, most := range cuts {
		if told := tell(parts, most, math.MaxInt); len(told) <= room {
			return head + told + foot + b.Prompt, len(parts)
		}
	}
	parts = dropOldest(parts, room)
	for _, p := range parts {
		if p.gap == 0 {
			told++
		}
	}
	for _, most := range cuts {
		if text := tell(parts, 0, most); len(text) <= room {
			return head + text + foot + b.Prompt, told
		}
	}
	return head + foot + b.Prompt, 0
}

// dropOldest leaves out the oldest messages until the rest fits without any
// results. A gap stands for each run of them.
func dropOldest(parts []part, room int) []part {
	const gaps = 3 * 64 // bytes for as many as there can be
	left := gaps + len(tell(parts, 0, math.MaxInt))
	var kept []part
	for _, p := range parts {
		if left <= room || p.keep {
			kept = append(kept, p)
			continue
		}
		left -= len(p.tell(0, math.MaxInt))
		if n := len(kept); n > 0 && kept[n-1].gap > 0 {
			kept[n-1].gap++
		} else {
			kept = append(kept, part{gap: 1})
		}
	}
	return kept
}

// cutText keeps so many bytes of a text, and says how many are left out, unless
// that is as long.
func cutText(text string, most int) string {
	kept := display.Prefix(text, most)
	cut := strings.TrimSpace(kept + fmt.Sprintf("\n[%d bytes left out]", len(text)-len(kept)))
	if len(cut) >= len(text) {
		return text
	}
	return cut
}

// cutLine puts a text into one line of at most so many bytes, and marks that it was longer.
func cutLine(text string, most int) string {
	line := display.Words(text)
	if len(line) > most {
		return display.Prefix(line, most) + "..."
	}
	return line
}

// CountedMessages is a number of messages in words.
func CountedMessages(n int) string { return errs.Counted(n, "message") }

// someNumbers lists numbers of turns, the first ones of many.
func someNumbers(numbers []int) string {
	const most = 20
	var words []string
	for _, n := range numbers[:min(most, len(numbers))] {
		words = append(words, fmt.Sprint(n))
	}
	if len(numbers) > most {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}

// longestCall is how much is told of one tool call, in bytes.
const longestCall = 240

// part is one message of a brief, or a gap.
type part struct {
	title  string // who speaks
	text   string
	calls  string // a line for each
	ended  string // how the turn ended whose last message this is, "" when it ended well
	result bool   // of a tool
	keep   bool   // never left out
	gap    int    // how many messages it stands for, which were left out
}

// parts puts the messages into words. What terminals obey is taken out: a
// brief may be typed into one. Paths become those of the new worktree.
func parts(b Brief) []part {
	titles := map[history.Role]string{history.RoleUser: "User", history.RoleAssistant: b.CLI, history.RoleSystem: "Note"}
	tools := map[string]string{} // names by the id of the call
	parts := make([]part, len(b.Messages))
	first, last, answer := -1, -1, -1
	for i, m := range b.Messages {
		p := part{title: titles[m.Role], text: strings.TrimSpace(b.printable(m.Content)), result: m.Role == history.RoleTool}
		if p.result {
			p.title = strings.TrimSpace("Result of " + tools[m.ToolCallID])
		}
		for _, call := range m.ToolCalls {
			tools[call.ID] = display.Words(call.Name)
			p.calls += "→ " + cutLine(call.Name+" "+b.printable(call.Arguments), longestCall) + "\n"
		}
		if end := b.Ends[i]; end != "" {
			p.ended = cutLine(b.printable(end), longestCall)
		}
		switch {
		case m.Role == history.RoleUser:
			if last = i; first < 0 {
				first = i
			}
		case m.Role == history.RoleAssistant && p.text != "":
			answer = i
		}
		parts[i] = p
	}
	for _, i := range []int{first, last, answer} {
		if i >= 0 {
			parts[i].keep = true
		}
	}
	return parts
}

// printable is a text as a terminal may get it, with the paths of the new worktree.
func (b Brief) printable(text string) string {
	text = display.Printable(text)
	if b.Paths == nil {
		return text
	}
	return b.Paths.text(text)
}

// tell writes parts one after another, with at most so many bytes of each result
// and of each other text.
func tell(parts []part, result, text int) string {
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.tell(result, text))
	}
	return out.String()
}

// tell writes a part as a quotation: no line of it can be taken for one of the
// brief, or of the prompt behind it.
func (p part) tell(result, text int) string {
	if p.gap > 0 {
		return fmt.Sprintf("[%s left out here]\n\n", CountedMessages(p.gap))
	}
	most := text
	if p.result {
		most = min(result, text)
	}
	content := cutText(p.text, most)
	if calls := cutText(p.calls, text); calls != "" {
		content = strings.TrimSpace(content + "\n" + calls)
	}
	var out strings.Builder
	out.WriteString(p.title + ":\n")
	for line := range strings.Lines(content) {
		out.WriteString("> " + strings.TrimSuffix(line, "\n") + "\n")
	}
	if p.ended != "" {
		out.WriteString("\nHow this turn ended:\n> " + p.ended + "\n")
	}
	return out.String() + "\n"
}
