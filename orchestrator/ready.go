package orchestrator

import (
	"context"
	"errors"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/session"
)

// SetUpAgain repeats copying, linking and set-up in the worktrees of idle agents, all or none, and
// calls tell with the problems of each. Agents get missing variables and ports; existing ones do
// not change.
func SetUpAgain(ctx context.Context, h *app.App, s *session.Session, names []string, tell func(agent string, notes []string)) error {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return err
	}
	if err := app.RequireAgents(s, names...); err != nil {
		return err
	}
	for _, name := range names {
		if err := observe.RefuseUnfinished(s, s.Agent(name)); err != nil {
			return err
		}
	}
	f, err := observe.RefuseNotAtRest(ctx, h, s, names...)
	if err != nil {
		if refused, ok := errors.AsType[*errs.Error](err); ok && refused.Kind == errs.Refused {
			refused.Kind = errs.Locked
		}
		return err
	}
	if err := observe.RefuseGone(f, names...); err != nil {
		return err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return err
	}
	if s, err = giveMissing(ctx, h, s, names); err != nil {
		return err
	}
	out := &launch.SharedWriter{W: h.Progress}
	for _, name := range names {
		w, err := app.AgentNamed(s, name)
		if err != nil {
			return err
		}
		tell(name, launch.SetUp(ctx, h.Agent(s, w).In(m), out))
	}
	return ctx.Err()
}

// giveMissing gives agents the ports and variables that the configuration has gained since they
// were made.
func giveMissing(ctx context.Context, h *app.App, s *session.Session, names []string) (saved *session.Session, err error) {
	var without []string
	for _, name := range names {
		if s.Agent(name).Ports == nil {
			without = append(without, name)
		}
	}
	err = h.WithPorts(ctx, len(without), func(blocks []*session.Ports) error {
		saved, err = h.Update(ctx, s.Name, func(rec *session.Session) error {
			for i, name := range without {
				if w := rec.Agent(name); w != nil && w.Ports == nil {
					w.Ports = blocks[i]
				}
			}
			for _, name := range names {
				if w := rec.Agent(name); w != nil {
					for _, problem := range h.Agent(rec, w).Fill() {
						h.Notef("%s: %s", name, problem)
					}
				}
			}
			return nil
		})
		return err
	})
	return saved, err
}

// namePorts notes, for each agent that comes back, which of its ports other processes use.
func namePorts(s *session.Session, jobs []launch.Job) {
	for i := range jobs {
		if j := &jobs[i]; j.Starts() {
			j.Notes = append(j.Notes, app.PortsHeld(s, s.Agent(j.Agent))...)
		}
	}
}
