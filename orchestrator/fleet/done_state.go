package fleet

import (
	"cmp"

	"paw/orchestrator/fault"
	"paw/session"
	"paw/session/turn"
)

// holds reports whether what an agent said of its work still counts: no later turn
// has begun.
func (f Turns) holds() bool {
	return f.done != nil && (f.Last == nil || f.Last.Number <= f.done.Turn)
}

// outcome is the word for how the work went that an agent says is finished: its
// own, else that of its turn.
func (f Turns) outcome() string {
	word := f.done.Outcome
	if f.Last != nil && f.Last.State == turn.Finished {
		word = cmp.Or(word, f.Last.Outcome)
	}
	return word
}

// withDone makes an agent that has said so completed or failed, once nothing of
// that turn is under way any more.
func withDone(st session.AgentStatus, f Turns) session.AgentStatus {
	open := f.Last != nil && f.Last.State == turn.InProgress && st.State == session.StateUnknown
	if !f.holds() || open || st.State == session.StateRunning || st.State == session.StateWaitingInput {
		return st
	}
	since := f.done.At
	if f.Last != nil && f.Last.EndedAt != nil && f.Last.EndedAt.After(since) {
		since = *f.Last.EndedAt
	}
	said := session.AgentStatus{State: session.StateCompleted, Since: at(since), Source: session.SourceRecord, Reason: fault.FirstLine(f.done.Message)}
	if outcome := f.outcome(); failing(outcome) {
		said.State, said.Reason = session.StateError, cmp.Or(said.Reason, outcome)
	}
	return said
}

// withFailure keeps the exit of a CLI that was told to end well from hiding that
// the agent has failed.
func withFailure(st session.AgentStatus, f Turns) session.AgentStatus {
	if st.State == session.StateCompleted && f.holds() && failing(f.outcome()) {
		return withDone(st, f)
	}
	return st
}

// failing reports whether an outcome is that of work that was given up.
func failing(outcome string) bool { return outcome == "failure" || outcome == "error" }
