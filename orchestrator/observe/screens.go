package observe

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/live"
	"paw/session"
)

// ScreenPolicy says of which agents an observation reads the screen.
type ScreenPolicy int

const (
	// NotAtScreens leaves them alone.
	NotAtScreens ScreenPolicy = iota
	// WhereUnknown looks at those of agents of which nothing else tells what they do, or what they ask.
	WhereUnknown
	// WhereRunning looks at those of agents in a turn, too: a dialog may cover it of which no hook tells.
	WhereRunning
)

// wantsLook reports whether the screen of an agent could tell more of its state.
func (f Facts) wantsLook(a Agent, look ScreenPolicy) bool {
	if look == NotAtScreens || !a.Turns.Visible || RunsHeadless(a.Lock) || a.Pane == nil || a.Pane.Dead {
		return false
	}
	seen := f.Observation(a)
	if seen.Running() != live.InPane {
		return false
	}
	switch live.State(seen).State {
	case session.StateUnknown:
		return true
	case session.StateWaitingInput:
		return a.Turns.Observed.Vague
	case session.StateRunning:
		return look == WhereRunning
	default:
		return false
	}
}

// LookAtScreens takes the screens that could tell more into the facts, with one tmux client for all of one server. A
// screen that cannot be had tells nothing.
func LookAtScreens(ctx context.Context, h *app.App, all []*Facts, look ScreenPolicy) {
	wanted := map[string][]string{} // panes by socket
	clients := map[string]*session.Session{}
	for _, f := range all {
		for _, a := range f.Agents {
			if f.wantsLook(a, look) {
				wanted[f.Session.Tmux.Socket] = append(wanted[f.Session.Tmux.Socket], a.Pane.ID)
				clients[f.Session.Tmux.Socket] = f.Session
			}
		}
	}
	for socket, panes := range wanted {
		shots, _ := h.TmuxFor(clients[socket]).Screenshots(ctx, panes)
		for _, f := range all {
			for i := range f.Agents {
				a := &f.Agents[i]
				if f.Session.Tmux.Socket != socket || a.Pane == nil {
					continue
				}
				c, known := h.CLIs.Get(a.Record.CLI)
				if shot, seen := shots[a.Pane.ID]; seen && known && f.wantsLook(*a, look) {
					a.Turns.Screen = c.Screen(cli.Screenshot(shot))
				}
			}
		}
	}
}
