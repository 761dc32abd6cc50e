package family

import (
	"slices"

	"paw/orchestrator/home"
	"paw/orchestrator/live"
)

// ClaimAfter looks after whoever is owed something now that an agent came to an
// end of its turn, of its CLI or of its place in the session. The record is read
// after that end was written: a parent that begins to wait later finds the end
// itself.
func ClaimAfter(h *home.Home, sessionName, agentName string, c live.Claim) {
	s, err := h.Store.Load(sessionName)
	if err != nil || s == nil {
		return
	}
	for _, w := range s.Worktrees {
		one := c
		switch {
		case !live.Owed(w):
			continue
		case w.Agent == agentName && c.Leaving == "":
			one.OwnEnd = true
		case w.Agent == agentName || !slices.Contains(w.Wait.Children, agentName):
			continue
		}
		claim(h, sessionName, w.Agent, one)
	}
}

// ClaimAll looks after everybody in a session who is owed something: the user is
// there, or an agent that speaks for itself.
func ClaimAll(h *home.Home, sessionName string) {
	s, err := h.Store.Load(sessionName)
	if err != nil || s == nil {
		return
	}
	for _, w := range s.Worktrees {
		if live.Owed(w) {
			claim(h, sessionName, w.Agent, live.Claim{})
		}
	}
}

// claim lets a process of its own carry a claim out, since a CLI waits for its
// hooks and a user for a command. Should it never start, the wait is still owed.
func claim(h *home.Home, sessionName, parent string, c live.Claim) {
	start := h.Deliverer
	if start == nil {
		start = func(sessionName, parent string, c live.Claim) error {
			return h.StartDetached(c.Arguments(sessionName, parent))
		}
	}
	if err := start(sessionName, parent, c); err != nil {
		h.LogHook("paw", "deliver", err)
	}
}
