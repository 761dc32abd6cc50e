package records

import (
	"paw/orchestrator/agent"
	"paw/session/turn"
)

// IsOpen tells whether there is a turn whose end is to be found.
func IsOpen(last *turn.Record) bool { return last != nil && last.State == turn.InProgress }

// ObservedSpec is s with the conversation that an observation is about: that of the open turn, else the newest.
func ObservedSpec(s agent.Spec, last *turn.Record) agent.Spec {
	if last != nil && last.Conversation != "" && IsOpen(last) {
		s.ConversationID = last.Conversation
	}
	return s
}
