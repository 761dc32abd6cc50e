package turn

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Decide returns the actions for an event of a CLI, in order; none if the event means nothing. last
// is the agent's last turn, open or not, nil if it has none. Decide is pure. The caller has dropped
// events of other launches, and has closed a turn whose end only the CLI's own record shows.
//
// Which events the CLIs send, and which they do not:
//   - No CLI reports everything. Whatever is still open when the next prompt begins was interrupted: claude reports
//     neither Esc nor a denied permission, codex no API error, gemini no Esc in a permission dialog. (Elsewhere gemini
//     reports an Esc as an end, and it counts as one.)
//   - A prompt typed while the CLI is busy belongs to the open turn if the CLI adds it to that turn: codex and claude
//     send a prompt with the same turn id, older claudes nothing, opencode a prompt that the adapter marks as Queued.
//     Otherwise the CLI holds the prompt back, and most report it after the end. claude reports it when it is typed,
//     with the id of the running turn, so the caller has to find the begin of its turn in claude's record (see
//     cli.Observed).
//   - qwen sends an empty prompt after each result of a tool.
//   - An end without an open turn means nothing: opencode is idle twice after an error, and claude answers a `!command`
//     without a prompt, with an end that has the id of the turn before.
//   - Subagents keep the turn open that they work for: when one ends, the CLI prompts itself, which joins that turn. Other
//     background tasks do not. When one of those ends, claude also prompts itself, which starts a new turn.
func Decide(last *Record, e Event) []Action {
	if e.Child {
		return nil
	}
	open := last
	if last == nil || last.State != InProgress {
		open = nil
	}
	switch e.Kind {
	case KindSessionStart:
		return sessionStart(last, open, e)
	case KindPrompt:
		return prompt(last, open, e)
	case KindSessionEnd:
		return sessionEnd(open, e)
	case KindError:
		if open == nil {
			return lateError(last, e)
		}
	case KindEnd:
		if open == nil && e.Again {
			return sentOn(last, e)
		}
	default: // Other events concern an open turn only.
	}
	if open == nil || earlier(e, open) {
		return nil
	}
	if foreign(open, e) {
		return stray(open, e)
	}
	return during(open, e)
}

// earlier reports whether an event happened before the open turn began. CLIs' times have
// milliseconds.
func earlier(e Event, open *Record) bool {
	return !e.At.IsZero() && e.At.Before(open.StartedAt.Truncate(time.Millisecond))
}

func during(open *Record, e Event) []Action {
	if e.Beside && (e.Kind == KindEnd || e.Kind == KindError || e.Kind == KindInterrupt) {
		return workedOn(e)
	}
	switch e.Kind {
	case KindInput:
		return input(open, e)
	case KindLimit:
		return []Action{{Do: ActLimit, Limit: e.Limit, Text: e.Message}}
	case KindAnswered, KindTool:
		if !open.Waiting {
			return nil
		}
		return []Action{{Do: ActAnswered}}
	case KindEnd:
		finish := Action{Do: ActFinish, Text: e.Message}
		switch {
		case e.Subagents > 0:
			finish.Do, finish.Subagents = ActAwait, e.Subagents
		case e.Held:
			finish.Do = ActHold
		}
		if e.Background > 0 {
			return []Action{{Do: ActNote, Text: stillRunning(e.Background)}, finish}
		}
		return []Action{finish}
	case KindError:
		return []Action{abort(Abort{Reason: ReasonError, ErrorType: e.ErrorType, Message: e.Message, Limit: e.Limit})}
	case KindInterrupt:
		return []Action{abort(Abort{Reason: ReasonInterrupted, Message: e.Message})}
	default:
		return nil
	}
}

func prompt(last, open *Record, e Event) []Action {
	moved := open != nil && differ(open.Conversation, e.Conversation)
	if e.Prompt == "" {
		if open == nil || moved {
			return nil // Nobody has asked for anything.
		}
		return []Action{{Do: ActExecute}} // goes on
	}
	if open != nil && (e.Beside || open.takesPart(e)) {
		return joinsBeside(open, e)
	}
	if open != nil && (same(open.TurnID, e.TurnID) || e.Queued && !moved) {
		joined := Action{Do: ActExecute, Text: e.Prompt}
		if differ(open.TurnID, e.TurnID) {
			joined.TurnID = e.TurnID
		}
		return []Action{joined}
	}
	var actions []Action
	switch {
	case open == nil:
	case open.Held != nil && open.Held.Subagents > 0: // The turn was answered; what its subagents do from now on belongs to the next turn.
		actions = append(actions, Action{Do: ActFinish, Text: open.Held.Message})
	default:
		actions = append(actions, interrupted("another prompt began"))
	}
	actions = append(actions, conversation(last, e)...)
	start := Start{
		Type: e.Type, Prompt: e.Prompt, Conversation: e.Conversation, TurnID: e.TurnID, At: e.At, Follows: e.Follows,
	}
	if start.Type == "" {
		start.Type = TypePrompt
	}
	if open == nil && last != nil && same(last.TurnID, e.TurnID) {
		start.TurnID = "" // the CLI was not done with the turn before, and will give the prompt an id when it takes it out of its queue
	}
	return append(actions, Action{Do: ActStart, Start: &start})
}

// sentOn returns the actions for an end that follows an end, without a prompt between: a hook of
// the user has sent the CLI on, though nothing showed such a hook. The tag of the first end is
// kept, so the work since is a turn of its own.
func sentOn(last *Record, e Event) []Action {
	if last == nil || last.State != Finished || !same(last.TurnID, e.TurnID) {
		return nil
	}
	start := &Start{Type: TypeStopHook, Prompt: sentOnPrompt, Conversation: e.Conversation, TurnID: e.TurnID, Follows: true}
	end := Action{Do: ActFinish, Text: e.Message}
	if e.Held {
		end.Do = ActHold
	}
	return []Action{{Do: ActStart, Start: start}, end}
}

// sessionStart returns the actions for the start of a conversation. A CLI that changes the
// conversation during a turn has left that turn without an event. There are two exceptions: the CLI
// compacts the conversation during its work, and some start a conversation after its first turn has
// begun (opencode's plugin sees the two in any order).
func sessionStart(last, open *Record, e Event) []Action {
	if open == nil {
		return conversation(last, e)
	}
	if e.Beside {
		return nil // The conversation's first prompt joins the turn.
	}
	switch e.Source {
	case SourceClear, SourceResume, SourceFork:
		why := "the conversation was taken up again"
		if differ(open.Conversation, e.Conversation) {
			why = "another conversation began"
		}
		return append([]Action{interrupted(why)}, conversation(last, e)...)
	case SourceCompact:
		return conversation(last, e)
	}
	// The start of another conversation most likely comes from a CLI that the agent itself runs. If
	// not, that conversation's first prompt shows it.
	return nil
}

// sessionEnd returns the actions for a CLI that leaves a conversation: an open turn is interrupted
// when the CLI exits. If the CLI only changes the conversation, the start of the next one decides.
func sessionEnd(open *Record, e Event) []Action {
	if open == nil || e.Beside || e.Conversation != "" && open.Conversation != "" && !open.has(e.Conversation) {
		return nil
	}
	if e.Source == SourceClear || e.Source == SourceResume {
		return nil
	}
	return []Action{interrupted(messageExited)}
}

// lateError returns a note for an error that is reported after its turn has ended without one.
func lateError(last *Record, e Event) []Action {
	if last == nil || !same(last.TurnID, e.TurnID) || last.Reason == ReasonError {
		return nil
	}
	a := Abort{Reason: ReasonError, ErrorType: e.ErrorType, Message: e.Message}
	return []Action{{Do: ActNote, Text: "after its end: " + a.Error()}}
}

// stray returns the actions for an event that does not belong to the open turn. The end of another
// turn in the same conversation gets a note, since the start of that turn may have been lost.
func stray(open *Record, e Event) []Action {
	if differ(open.Conversation, e.Conversation) {
		return nil
	}
	switch e.Kind {
	case KindEnd, KindError, KindInterrupt:
		return []Action{{Do: ActNote, Text: fmt.Sprintf("%s of another turn, %s", e.Kind, e.TurnID)}}
	default:
		return nil
	}
}

// foreign reports whether an event belongs to another turn than the open one. The turn id decides,
// if there is one; else the conversation, which differs for a CLI that the agent runs.
func foreign(open *Record, e Event) bool {
	if same(open.TurnID, e.TurnID) || open.takesPart(e) {
		return false
	}
	return differ(open.TurnID, e.TurnID) || differ(open.Conversation, e.Conversation)
}

// conversation returns the action that stores a conversation other than the last turn's.
func conversation(last *Record, e Event) []Action {
	if e.Conversation == "" || last != nil && last.Conversation == e.Conversation && len(last.Others) == 0 {
		return nil
	}
	return []Action{{Do: ActConversation, Text: e.Conversation}}
}

func abort(a Abort) Action { return Action{Do: ActAbort, Abort: &a} }

func interrupted(why string) Action {
	return abort(Abort{Reason: ReasonInterrupted, Message: why})
}

func stillRunning(tasks int) string {
	if tasks == 1 {
		return "1 background task is still running"
	}
	return fmt.Sprintf("%d background tasks are still running", tasks)
}

// takesPart reports whether an event comes from one of several conversations that work for the
// turn, and belongs to this turn.
func (r *Record) takesPart(e Event) bool {
	return len(r.Others) > 0 && r.has(e.Conversation) && (e.TurnID == r.TurnID || slices.Contains(r.OlderIDs, e.TurnID))
}

// has reports whether a conversation works for the turn.
func (r *Record) has(conversation string) bool {
	return conversation == r.Conversation || slices.Contains(r.Others, conversation)
}

// joinsBeside returns the actions for a prompt to one of several conversations that work at the
// same time: the prompt joins the turn, which ends when all the conversations have ended.
func joinsBeside(open *Record, e Event) []Action {
	joined := Action{Do: ActExecute, Text: e.Prompt, Conversation: e.Conversation}
	if differ(open.TurnID, e.TurnID) {
		joined.TurnID = e.TurnID
	}
	return []Action{{Do: ActConversation, Text: e.Conversation}, joined}
}

// workedOn returns the actions for the end of a conversation while another one still works for the
// turn: an error or an interrupt is noted, an answer is not.
func workedOn(e Event) []Action {
	switch e.Kind {
	case KindError:
		a := Abort{Reason: ReasonError, ErrorType: e.ErrorType, Message: e.Message}
		return []Action{{Do: ActNote, Text: "in one of its conversations: " + a.Error()}}
	case KindInterrupt:
		return []Action{{Do: ActNote, Text: "one of its conversations was interrupted"}}
	default:
		return nil
	}
}

// input returns the actions for a question of the CLI. A reminder of a question that the
// conversation has asked already gives none.
func input(open *Record, e Event) []Action {
	ask := Action{Do: ActInput, Text: e.Message}
	if open.takesPart(e) {
		ask.Conversation = e.Conversation
	}
	asked, waits := Asked{Question: open.Question}, open.Waiting
	if len(open.Others) > 0 {
		asked, waits = open.AskedBy(e.Conversation)
	}
	if waits && (e.Message == "" || e.Message == asked.Question) {
		return nil
	}
	return []Action{ask}
}

// joinedBy applies a joined prompt to the record. A prompt to one of several conversations answers
// no question of the others.
func (r *Record) joinedBy(conversation string, at time.Time) {
	if i := slices.IndexFunc(r.Asked, func(a Asked) bool { return conversation == "" || a.Conversation == conversation }); i >= 0 {
		r.Answered = &Asked{Conversation: r.Asked[i].Conversation, Question: r.Asked[i].Question, Since: at}
	}
	if conversation == "" {
		r.answered()
		return
	}
	if !r.has(conversation) {
		r.Others = append(r.Others, conversation)
	}
	r.Asked = slices.DeleteFunc(r.Asked, func(a Asked) bool { return a.Conversation == conversation })
	r.wait()
}

// asked applies a question to the record. A second question of the same conversation keeps the
// start of the wait.
func (r *Record) asked(l line) {
	by := cmp.Or(string(l.Conversation), r.Conversation)
	if i := slices.IndexFunc(r.Asked, func(a Asked) bool { return a.Conversation == by }); i >= 0 {
		r.Asked[i].Question = string(l.Question)
	} else {
		r.Asked = append(r.Asked, Asked{Conversation: by, Question: string(l.Question), Since: l.At})
	}
	r.limited(line{})
	r.wait()
}

// AskedBy returns the question of a conversation, false for none.
func (r *Record) AskedBy(conversation string) (Asked, bool) {
	i := slices.IndexFunc(r.Asked, func(a Asked) bool { return a.Conversation == conversation })
	if i < 0 {
		return Asked{}, false
	}
	return r.Asked[i], true
}

// answered removes all questions from the record.
func (r *Record) answered() {
	r.Asked = nil
	r.wait()
}

// wait makes the first open question the one that the turn waits for.
func (r *Record) wait() {
	r.Waiting, r.WaitingSince, r.Question = false, nil, ""
	if len(r.Asked) > 0 {
		r.Waiting, r.WaitingSince, r.Question = true, new(r.Asked[0].Since), r.Asked[0].Question
	}
}
