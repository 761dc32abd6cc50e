package landing

import (
	"paw/orchestrator/fault"
	"paw/orchestrator/home"
)

// keepWords keeps a message that the user wrote in an editor for a command that then failed, and says how it is used. The file
// goes with the agent.
func keepWords(h *home.Home, session, agent, verb, words string) {
	if words == "" {
		return
	}
	file, err := h.KeepText(session, agent, "message-*.txt", words+"\n")
	if err != nil {
		h.Notef("your message could not be kept: %v\n%s", err, words)
		return
	}
	h.Notef(`your message is kept; paw %s %s/%s --message "$(cat %s)"`, verb, session, agent, fault.Quote(file))
}
