package turns

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// BeginIfOwn begins the turn of a CLI without hooks: that paw typed the prompt is
// all that will ever be known of it. w is a copy: the turn settles the wait in it.
func BeginIfOwn(ctx context.Context, h *app.App, s *session.Session, w session.Agent, prompt string) error {
	if cli, known := h.CLIs.Get(w.CLI); known && cli.Facts().Unseen {
		return BeginOwn(ctx, h, s, &w, prompt)
	}
	return nil
}

// EndOwn finishes the open turn of a CLI without hooks: nobody else would
// see its end.
func EndOwn(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) error {
	return Change(ctx, h, s, w, func(t *Recorder) error {
		one, err := t.open()
		if err != nil || one == nil {
			return err
		}
		_, err = t.Finish(ctx, one, "")
		return err
	})
}

// BeginOwn starts a turn of a CLI without hooks: paw typed its prompt, so it
// knows the begin. The end of the one before was not seen.
func BeginOwn(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, prompt string) error {
	return Change(ctx, h, s, w, func(t *Recorder) error {
		one, err := t.open()
		if err != nil {
			return err
		}
		if one != nil {
			if err := one.Note("its end was not seen; the next prompt closed it"); err != nil {
				return err
			}
			if _, err := t.Finish(ctx, one, ""); err != nil {
				return err
			}
		}
		_, err = t.Begin(ctx, turn.Start{Type: turn.TypePrompt, Prompt: prompt, Launch: launchOf(h, s, w)})
		return err
	})
}

// launchOf is the launch of an agent that runs.
func launchOf(h *app.App, s *session.Session, w *session.Agent) string {
	lock, err := h.Locks.ProbeAgent(s.Name, w.Name)
	if err != nil {
		return ""
	}
	return observe.LaunchID(s.Name, w.Name, lock.Holder.Generation)
}
