package children

import (
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/live"
)

// ClaimAfter starts an attempt for each parent that waits for an agent which has
// just ended its turn, its CLI or its place in the session, and for the agent
// itself when it waits. The record is read after that end was written: a parent
// that begins to wait later finds the end itself.
func ClaimAfter(h *app.App, sessionName, agentName string, c live.Claim) {
	s, err := h.Store.Load(sessionName)
	if err != nil || s == nil {
		return
	}
	for _, w := range s.Agents {
		one := c
		switch {
		case !live.Owed(w):
			continue
		case w.Name == agentName && c.Leaving == "":
			one.OwnEnd = true
		case w.Name == agentName || !slices.Contains(w.Wait.Children, agentName):
			continue
		}
		claim(h, sessionName, w.Name, one)
	}
}

// ClaimAll starts an attempt for every parent in a session that waits: the user
// is there, or an agent that gives a command itself.
func ClaimAll(h *app.App, sessionName string) {
	s, err := h.Store.Load(sessionName)
	if err != nil || s == nil {
		return
	}
	for _, w := range s.Agents {
		if live.Owed(w) {
			claim(h, sessionName, w.Name, live.Claim{})
		}
	}
}

// claim starts the process that makes one attempt, since a CLI waits for its hooks
// and a user for a command. Should it never start, the results are still owed.
func claim(h *app.App, sessionName, parent string, c live.Claim) {
	var err error
	if h.Deliverer != nil {
		err = h.Deliverer(sessionName, parent, c)
	} else {
		err = h.StartDetached(c.Arguments(sessionName, parent))
	}
	if err != nil {
		h.LogHook("paw", "deliver", err)
	}
}
