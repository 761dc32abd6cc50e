package turn

import (
	"cmp"
	"slices"
)

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
func (r *Record) joinedBy(conversation string) {
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
