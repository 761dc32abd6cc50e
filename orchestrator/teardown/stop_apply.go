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
)

// StopNow records what is to stop, looks at what runs, and ends it. The intent comes first: from there on no start, add or
// recover that is under way opens another pane (see launch.openPanes). A full disk must not keep agents running.
func StopNow(ctx context.Context, h *app.App, s *session.Session, o StopOptions) (*Stop, error) {
	stopping := func(string) session.Phase { return session.PhaseStopping }
	whole := len(o.Agents) == 0
	turns.CloseDead(ctx, h, s, o.Targets(s)...)
	rec, _ := savePhase(ctx, h, s.Name, o.Targets, stopping, whole) // what counts is that the end is recorded
	if rec != nil {
		s = rec // with the agents that were added since it was loaded
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

// apply ends the agents, closes their turns and records it.
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
		turns.Cut(ctx, h, s, *s.Agent(name), turn.ReasonStopped)
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

// again is the command that stops these agents and no others.
func (p Stop) again(targets []string) string {
	if p.Whole {
		return "paw stop " + p.Session.Name
	}
	return "paw stop " + p.Session.Name + " " + strings.Join(targets, " ") + " --only"
}

// endedNothing reports whether all agents had ended before: then what was seen of them is still so, since nobody opens a pane
// once it is recorded that they stop.
func (p Stop) endedNothing() bool {
	return p.facts.Tmux != session.TmuxUnknown && !slices.ContainsFunc(p.facts.Agents, func(a observe.Agent) bool {
		return a.Pane != nil || a.Lock.State != session.LockFree
	})
}

// errRecorded says that the record has all of it already.
var errRecorded = errors.New("recorded already")

// savePhase records how far stopping has come, unless that is in the record, and returns the record. targets
// picks the agents, by the record.
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
			case session.PhaseCreating: // recover still has to make a worktree that never was
			case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving: // and to finish this
			case session.PhaseExited: // it has ended before
			case "", session.PhaseLive, session.PhaseStopping, session.PhaseStopped:
				next := phase(w.Name)
				if w.Phase != next && (w.Phase != session.PhaseStopped || next != session.PhaseStopping) { // never back from its end
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
