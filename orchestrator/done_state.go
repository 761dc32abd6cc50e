package orchestrator

import (
	"cmp"
	"paw/session"
	"paw/session/turn"
)

// holds tells whether what an agent said of its work still counts: no later turn
// has begun.
func (f turnFacts) holds() bool {
	return f.done != nil && (f.last == nil || f.last.Number <= f.done.Turn)
}

// outcome is the word for how the work went that an agent says is finished: its
// own, else that of its turn.
func (f turnFacts) outcome() string {
	word := f.done.Outcome
	if f.last != nil && f.last.State == turn.Finished {
		word = cmp.Or(word, f.last.Outcome)
	}
	return word
}

// withDone makes an agent that has said so completed or failed, once nothing of
// that turn is under way any more.
func withDone(st session.AgentStatus, f turnFacts) session.AgentStatus {
	open := f.last != nil && f.last.State == turn.InProgress && st.State == session.StateUnknown
	if !f.holds() || open || st.State == session.StateRunning || st.State == session.StateWaitingInput {
		return st
	}
	since := f.done.At
	if f.last != nil && f.last.EndedAt != nil && f.last.EndedAt.After(since) {
		since = *f.last.EndedAt
	}
	said := session.AgentStatus{State: session.StateCompleted, Since: at(since), Source: session.SourceRecord, Reason: firstLine(f.done.Message)}
	if outcome := f.outcome(); failing(outcome) {
		said.State, said.Reason = session.StateError, cmp.Or(said.Reason, outcome)
	}
	return said
}

// withFailure keeps the exit of a CLI that was told to end well from hiding that
// the agent has failed.
func withFailure(st session.AgentStatus, f turnFacts) session.AgentStatus {
	if st.State == session.StateCompleted && f.holds() && failing(f.outcome()) {
		return withDone(st, f)
	}
	return st
}

// failing tells whether an outcome is that of work that was given up.
func failing(outcome string) bool { return outcome == "failure" || outcome == "error" }
