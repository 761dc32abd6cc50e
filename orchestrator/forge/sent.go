package forge

import (
	"slices"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
)

// SentIn returns the last turn of an agent that has got just this prompt, or that runs while its CLI has it queued, 0 for
// none.
func SentIn(h *app.App, s *session.Session, agentName, prompt string) int {
	words := strings.Fields(prompt) // CLIs report blanks at the ends of lines and of the prompt as they like
	for _, one := range sentTo(h, s, agentName) {
		if slices.Equal(strings.Fields(one.Text), words) {
			return one.Turn
		}
	}
	return 0
}

// LastRed returns the beginning of the commit whose failed checks an agent was sent last, "" for none.
func LastRed(h *app.App, s *session.Session, agentName string) string {
	for _, one := range sentTo(h, s, agentName) {
		if commit := turn.Prompt(one.Text).CICommit(); commit != "" {
			return commit
		}
	}
	return ""
}

// sentTo returns the prompts of an agent, the newest first.
func sentTo(h *app.App, s *session.Session, agentName string) (all []turn.Prompted) {
	dir := h.TurnDir(s.Name, agentName)
	for _, one := range slices.Backward(h.Texts().QueuedPrompts(s.Name, agentName)) {
		all = append(all, turn.Prompted{Text: one.Text, Turn: dir.Highest()})
	}
	begun, _ := dir.Prompts(time.Time{})
	return append(all, begun...)
}
