package observe

import (
	"testing"
	"time"

	"paw/orchestrator/app"
	"paw/session"
	"paw/tmux"
)

// Of two tmux panes that claim the same agent, as after the user has copied one, the living pane counts. If both live, or both
// are dead, the pane of the newer launch counts. The order in which tmux lists them does not matter.
func TestOfTwoPanesOfAnAgent(t *testing.T) {
	pane := func(id string, generation int, dead bool) tmux.Pane {
		return tmux.Pane{ID: id, Dead: dead, PawSession: "shop", Identity: &tmux.Identity{Session: "shop", Agent: "one", Generation: generation}}
	}
	for name, test := range map[string]struct {
		better, other tmux.Pane
	}{
		"the living one, although it is older": {pane("%1", 1, false), pane("%2", 2, true)},
		"the living one, of one launch":        {pane("%1", 2, false), pane("%2", 2, true)},
		"the newer one of two that live":       {pane("%1", 2, false), pane("%2", 1, false)},
		"the newer one of two that are dead":   {pane("%1", 2, true), pane("%2", 1, true)},
	} {
		for _, panes := range [][]tmux.Pane{{test.better, test.other}, {test.other, test.better}} {
			s := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "one"}}}
			f := Join(&app.App{Now: time.Now}, s, Panes{Panes: panes}, []Agent{{Record: s.Agents[0]}})
			if got := f.Agents[0].Pane; got == nil || got.ID != test.better.ID {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}
