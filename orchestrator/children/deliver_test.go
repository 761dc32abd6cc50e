package children

import (
	"context"
	"errors"
	"testing"

	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/tmux"
)

// A tmux that is silent for a moment, such as on a busy machine, does not end who waits until a parent takes what it is owed,
// be it at the first look, which does not tell then that the child has ended, or at a later one.
func TestADeliveryOutlivesASilence(t *testing.T) {
	for name, silent := range map[string]int{"at the first look": 1, "at the second look": 2} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t, "a")
			_, err := notified(t, f, WaitOptions{})
			f.must(err)
			f.end(parentName, "")
			f.end("a", "")
			asked, looks := false, 0
			d := &deliverer{App: f.p, session: familySession, parent: parentName, began: f.now(), launch: runningLaunch(f.p, familySession, parentName), keyboard: typing.PaneWriter{
				Panes: func(ctx context.Context, s *session.Session) observe.Panes {
					if looks++; looks == silent {
						return observe.Panes{Err: errors.New("no answer")}
					}
					return f.panes(ctx, s)
				},
				Ready: func(context.Context, *session.Session, *session.Agent) (tmux.Program, error) {
					defer func() { asked = true }()
					if !asked { // first it shows a dialog
						return tmux.Program{}, typing.ErrNotTyped
					}
					return tmux.Program{Pane: "%" + parentName}, nil
				},
				Give: f.give,
			}}
			f.claimed = d.began
			err = d.run(t.Context(), live.Told)
			if f.prompts != 1 || looks < 3 {
				t.Errorf("the parent was told in %d prompts, after %d looks: %v", f.prompts, looks, err)
			}
		})
	}
}
