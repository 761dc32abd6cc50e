package agent

import "paw/session/turn"

// isOpen tells whether there is a turn whose end is to be found.
func isOpen(last *turn.Record) bool { return last != nil && last.State == turn.InProgress }

// observedSpec is s with the conversation that an observation is about: that of the open turn, else the newest.
func observedSpec(s Spec, last *turn.Record) Spec {
	if last != nil && last.Conversation != "" && isOpen(last) {
		s.ConversationID = last.Conversation
	}
	return s
}
