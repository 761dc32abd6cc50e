package teardown

import (
	"context"
	"errors"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// StopNow records the stop, looks at what runs, and ends it. Recording comes first: from then on no
// start, add or recover in progress opens another pane (see launch.openPanes). A full disk must not
// keep agents running.
func StopNow(ctx context.Context, h *app.App, s *session.Session, o StopOptions) (*Stop, error) {
	if none := app.NoTmux(s.Name, tmux.Installed()); none != nil {
		return nil, none // nothing could be ended, so no stop is recorded
	}
	stopping := func(string) session.Phase { return session.PhaseStopping }
	whole := len(o.Agents) == 0
	turns.CloseDead(ctx, h, s, o.Targets(s)...)
	rec, _ := savePhase(ctx, h, s.Name, o.Targets, stopping, whole) // a failure is ignored: the record is written again at the end
	if rec != nil {
		s = rec // includes agents that were added since s was loaded
	}
	h.Step("stop.recorded")
	f, err := observe.Revived(ctx, h, s)
	if err != nil {
		return nil, err
	}
	p, err := planStop(f, o)
	if err != nil {
		return nil, err
	}
	if err := p.apply(ctx, h); err != nil {
		return nil, err
	}
	return &p, nil
}

// apply ends the agents, closes their turns and records that they have stopped.
func (p Stop) apply(ctx context.Context, h *app.App) error {
	s := p.Session
	var targets []string
	phases := map[string]session.Phase{}
	for _, e := range p.Agents {
		targets, phases[e.Agent] = append(targets, e.Agent), e.Phase
	}
	if _, err := launch.EndAgents(ctx, h, s, p.facts, func(name string) bool { return slices.Contains(targets, name) }); err != nil {
		return err
	}
	for _, name := range targets {
		turns.Cut(ctx, h.Agent(s, s.Agent(name)), turn.ReasonStopped)
	}
	h.Step("stop.turns-closed")
	_, err := savePhase(ctx, h, s.Name, func(*session.Session) []string { return targets },
		func(name string) session.Phase { return phases[name] }, p.Whole)
	if err != nil {
		return errs.New(errs.Failed, "%s: stopped, but not recorded: %w", s.Name, err).Hint("%s", p.again(targets))
	}
	h.Step("stop.finished")
	return nil
}

// again returns the command that stops these agents and no others.
func (p Stop) again(targets []string) string {
	if p.Whole {
		return "paw stop " + p.Session.Name
	}
	return "paw stop " + p.Session.Name + " " + strings.Join(targets, " ") + " --only"
}

// endedNothing reports whether all agents had ended before. Their facts stay valid: nobody opens a
// pane once it is recorded that they stop.
func (p Stop) endedNothing() bool {
	return p.facts.Tmux != session.TmuxUnknown && !slices.ContainsFunc(p.facts.Agents, func(a observe.Agent) bool {
		return a.Pane != nil || a.Lock.State != session.LockFree
	})
}

// errRecorded means that the record needs no change.
var errRecorded = errors.New("recorded already")

// savePhase records how far a stop has come, unless the record says so already, and returns the
// record. targets picks the agents from the record.
func savePhase(ctx context.Context, h *app.App, name string, targets func(*session.Session) []string, phase func(agentName string) session.Phase, whole bool) (*session.Session, error) {
	var found *session.Session
	saved, err := h.Update(ctx, name, func(rec *session.Session) error {
		found = rec
		changed := whole && rec.Status != session.StatusStopped
		if whole {
			rec.Status = session.StatusStopped
		}
		for _, agent := range targets(rec) {
			w := rec.Agent(agent)
			if w == nil {
				continue // removed in the meantime
			}
			switch w.Phase {
			case session.PhaseCreating: // recover has to finish the worktree first
			case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving: // recover has to finish the removal
			case session.PhaseExited: // the agent had ended before
			case "", session.PhaseLive, session.PhaseStopping, session.PhaseStopped:
				next := phase(w.Name)
				if w.Phase != next && (w.Phase != session.PhaseStopped || next != session.PhaseStopping) { // a stopped agent never goes back to stopping
					w.Phase, changed = next, true
				}
			}
		}
		if !changed {
			return errRecorded
		}
		return nil
	})
	if errors.Is(err, errRecorded) {
		return found, nil
	}
	return saved, err
}
