package orchestrator

import (
	"context"

	"paw/orchestrator/agent"
	"paw/session"
)

// closeness is how closely an observation looks at the screens of agents.
type closeness int

const (
	// notAtScreens leaves them alone.
	notAtScreens closeness = iota
	// whereUnknown looks at those of agents of which nothing else tells what they do, or what they ask.
	whereUnknown
	// whereRunning looks at those of agents in a turn, too: a dialog may cover it of which no hook tells.
	whereRunning
)

// wantsLook reports whether the screen of an agent could tell more of its state.
func (f facts) wantsLook(a agentFacts, look closeness) bool {
	if look == notAtScreens || !a.turns.visible || a.turns.headless || a.pane == nil || a.pane.Dead {
		return false
	}
	base := session.Observe(f.evidence(a))
	if base.State != session.StateUnknown || base.Reason != session.ReasonNoTurns {
		return false
	}
	switch st := withTurnState(base, a.turns); st.State {
	case session.StateUnknown:
		return true
	case session.StateWaitingInput:
		return a.turns.observed.Vague
	case session.StateRunning:
		return look == whereRunning
	default:
		return false
	}
}

// lookAtScreens takes the screens that could tell more into the facts, with one tmux client for all of one server. A
// screen that cannot be had tells nothing.
func (p *Paw) lookAtScreens(ctx context.Context, all []*facts, look closeness) {
	wanted := map[string][]string{} // panes by socket
	clients := map[string]*session.Session{}
	for _, f := range all {
		for _, a := range f.agents {
			if f.wantsLook(a, look) {
				wanted[f.session.Tmux.Socket] = append(wanted[f.session.Tmux.Socket], a.pane.ID)
				clients[f.session.Tmux.Socket] = f.session
			}
		}
	}
	for socket, panes := range wanted {
		shots, _ := p.tmuxFor(clients[socket]).Screenshots(ctx, panes)
		for _, f := range all {
			for i := range f.agents {
				a := &f.agents[i]
				if f.session.Tmux.Socket != socket || a.pane == nil {
					continue
				}
				cli, known := p.CLIs.Get(a.record.CLI)
				if shot, seen := shots[a.pane.ID]; seen && known && f.wantsLook(*a, look) {
					a.turns.screen = cli.Screen(agent.Screenshot(shot))
				}
			}
		}
	}
}

// withScreen refines the state of a CLI that runs by what its screen shows. It is the last source: it tells what nothing
// else does, and of a turn only that a dialog covers it.
func withScreen(st session.AgentStatus, f turnFacts) session.AgentStatus {
	seen := f.screen
	unknown := st.State == session.StateUnknown
	switch {
	case seen.Dialog != "" && st.State == session.StateWaitingInput:
		if f.observed.Vague {
			st.Reason = seen.Dialog
		}
	case seen.Dialog != "" && (unknown || st.State == session.StateRunning):
		return session.AgentStatus{State: session.StateWaitingInput, Source: session.SourceTmux, Reason: seen.Dialog}
	case unknown && seen.Works:
		return session.AgentStatus{State: session.StateRunning, Source: session.SourceTmux}
	case unknown && seen.Box != agent.BoxUnseen && f.late && st.Reason != session.ReasonPrompted:
		// Where hooks should have reported by now, they may not work at all: then an input box says nothing of a turn.
		return session.AgentStatus{State: session.StateIdle, Source: session.SourceTmux}
	}
	return st
}
