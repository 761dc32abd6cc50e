package orchestrator

import (
	"context"
	"errors"
	"slices"

	"paw/orchestrator/family"
	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// Stop ends the agents of a session, or only the named ones with those that they
// have started. Branches, worktrees, tags and the record stay. Stopping twice is
// stopping once.
func Stop(ctx context.Context, h *home.Home, s *session.Session, o StopOptions) (*Stopped, error) {
	for _, name := range o.Agents {
		if _, err := home.AgentNamed(s, name); err != nil {
			return nil, err
		}
	}
	whole := len(o.Agents) == 0
	stopped := &Stopped{Session: s, Whole: whole, Named: o.Agents}
	if whole && s.Status == session.StatusStopped {
		f, err := fleet.Observe(ctx, h, s)
		if err != nil {
			return nil, err
		}
		if settled(f) {
			stopped.Already, stopped.Others = true, windowsOf(f.Others)
			return stopped, nil
		}
	}
	// The intent comes first, but a full disk must not keep agents running. Panes
	// are looked for after it: from here on no start, add or recover that is
	// under way opens another (see launch.openPanes).
	stopping := func(string) session.Phase { return session.PhaseStopping }
	rec, saved := savePhase(ctx, h, s.Name, o.targets, stopping, whole)
	if rec != nil {
		s = rec // with the agents that were added since it was loaded
	}
	targets := o.targets(s)
	target := func(name string) bool { return slices.Contains(targets, name) }
	h.Step("stop.recorded")
	f, err := fleet.ObserveRevived(ctx, h, s)
	if err != nil {
		return nil, err
	}
	stopped.Others, stopped.GoOn = windowsOf(f.Others), goOn(f, targets)
	if f.Tmux == session.TmuxUnknown {
		return nil, fault.New(fault.Failed, "%s: %s; its panes may still run", s.Name, fleet.Silence(f.TmuxErr)).Hint("paw stop %s", s.Name)
	}
	if stopped.Agents, err = launch.EndAgents(ctx, h, s, f, target); err != nil {
		return nil, err
	}
	for _, w := range s.Worktrees {
		if target(w.Agent) {
			turns.Cut(ctx, h, s, w, turn.ReasonStopped)
		}
	}
	h.Step("stop.turns-closed")
	_, err = savePhase(ctx, h, s.Name, func(*session.Session) []string { return targets }, phaseAfter(f), whole)
	if err := errors.Join(saved, err); err != nil {
		return nil, fault.New(fault.Failed, "%s: stopped, but not recorded: %w", s.Name, err).Hint("paw stop %s", s.Name)
	}
	h.Step("stop.finished")
	if !whole {
		for _, name := range targets {
			family.ClaimAfter(h, s.Name, name, live.Claim{Leaving: name})
		}
	}
	return stopped, nil
}

// phaseAfter is the phase of agents that were stopped, by how they were found.
func phaseAfter(f fleet.Facts) func(agentName string) session.Phase {
	return func(agentName string) session.Phase {
		if a := f.Agent(agentName); a != nil && a.Exited() {
			return session.PhaseExited
		}
		return session.PhaseStopped
	}
}

// windowsOf are the windows of panes.
func windowsOf(panes []tmux.Pane) []string {
	var windows []string
	for _, pane := range panes {
		windows = append(windows, pane.WindowID)
	}
	return windows
}

// settled reports whether nothing of a stopped session is left to end.
func settled(f fleet.Facts) bool {
	if f.Tmux == session.TmuxUnknown {
		return false
	}
	for _, a := range f.Agents {
		if a.Pane != nil || a.Lock.State != session.LockFree || a.Record.Phase == session.PhaseStopping {
			return false
		}
	}
	return true
}

// savePhase records how far stopping has come, and returns the record. targets
// picks the agents, by the record.
func savePhase(ctx context.Context, h *home.Home, name string, targets func(*session.Session) []string, phase func(agentName string) session.Phase, whole bool) (*session.Session, error) {
	return h.Update(ctx, name, func(rec *session.Session) error {
		if whole {
			rec.Status = session.StatusStopped
		}
		for _, agent := range targets(rec) {
			w := rec.Worktree(agent)
			if w == nil {
				continue // removed in the meantime
			}
			switch w.Phase {
			case session.PhaseCreating: // recover still has to make a worktree that never was
			case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving: // and to finish this
			case session.PhaseExited: // it has ended before
			case "", session.PhaseLive, session.PhaseStopping, session.PhaseStopped:
				w.Phase = phase(w.Agent)
			}
		}
		return nil
	})
}
