package teardown

import (
	"context"
	"errors"

	"paw/orchestrator/app"
	"paw/session"
)

// unstop takes back the record of a stop that has ended nobody; before is the session as it was.
func unstop(ctx context.Context, h *app.App, before *session.Session) error {
	_, err := h.Update(ctx, before.Name, func(rec *session.Session) error {
		rec.Status = before.Status
		for _, was := range before.Agents {
			if w := rec.Agent(was.Name); w != nil && w.Phase == session.PhaseStopping {
				w.Phase = was.Phase
			}
		}
		return nil
	})
	return err
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
			next := phase(w.Name)
			switch {
			case w.Phase == session.PhaseCreating || w.Phase.Removal(): // recover has to finish the worktree, or the removal, first
			case w.Phase == session.PhaseExited || w.Phase == next: // the agent had ended before
			case w.Phase == session.PhaseStopped && next == session.PhaseStopping: // a stopped agent never goes back to stopping
			default:
				w.Phase, changed = next, true
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
