package orchestrator

import (
	"context"
	"errors"
	"os"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/session"
)

// heldAgent is an agent whose lock this process holds.
type heldAgent struct {
	s          *session.Session
	w          *session.Agent
	cli        cli.CLI
	lock       *os.File // for the CLI to inherit
	giveBack   func()
	generation int
}

// holdAgent takes the lock of an agent that does not run, for the time of a
// headless turn. It looks and takes under the session lock, so that a start or a
// recover at the same time either finds the lock held or is found itself.
func holdAgent(ctx context.Context, h *app.App, s *session.Session, name string, cli cli.CLI) (*heldAgent, error) {
	if err := observe.RefuseHalfMoved(ctx, h, s, name); err != nil {
		return nil, err
	}
	held := &heldAgent{cli: cli}
	saved, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		w, err := app.AgentNamed(rec, name)
		if err != nil {
			return err
		}
		if err := observe.RefuseUnfinished(rec, w); err != nil {
			return err
		}
		f, err := observe.Observe(ctx, h, rec)
		if err != nil {
			return err
		}
		if err := observe.RefuseRunning(h, rec, f, *f.Agent(name)); err != nil {
			return err
		}
		if err := launch.WithdrawLaunches(h, rec.Name, name); err != nil {
			return err
		}
		held.generation = launch.NextGeneration(rec, f)
		holder, err := session.ThisProcess()
		if err != nil {
			return err
		}
		holder.Generation, rec.Generation = held.generation, held.generation
		held.lock, held.giveBack, err = h.Locks.HoldForTurn(rec.Name, name, holder)
		return err
	})
	if err != nil {
		if held.giveBack != nil {
			held.giveBack()
		}
		var locked *session.LockedError
		if errors.As(err, &locked) {
			return nil, errs.New(errs.Locked, "%w", err).Hint("paw status %s", s.Name)
		}
		return nil, err
	}
	held.s, held.w = saved, saved.Agent(name)
	h.Step("run.locked")
	return held, nil
}
