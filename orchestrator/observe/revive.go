package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/session"
	"paw/tmux"
)

// leavingServer is how long a tmux server without a socket may take to end.
const leavingServer = time.Second

// ObserveRevived is Observe for commands that change something: a server that
// lost its socket is asked to make it again, and lock files that are gone are
// written again. A server without a socket may also be on its way out, having
// lost its last pane: it is waited for.
func ObserveRevived(ctx context.Context, h *app.App, s *session.Session) (Facts, error) {
	f, err := Observe(ctx, h, s)
	for _, a := range f.Agents {
		if a.lockLost {
			err = errors.Join(err, h.Locks.Restore(a.Lock.Holder))
		}
	}
	if err != nil || f.Tmux != session.TmuxUnknown || !errors.Is(f.TmuxErr, tmux.ErrNoServer) {
		return f, err
	}
	revived := tmux.Revive(s.Tmux.ServerPID, s.Tmux.Socket)
	f, err = Observe(ctx, h, s)
	if revived != nil && err == nil && f.Tmux == session.TmuxUnknown {
		return f, fmt.Errorf("tmux server %d: %w", s.Tmux.ServerPID, revived)
	}
	poll.Until(ctx, poll.Tick, leavingServer, func() bool {
		f, err = Observe(ctx, h, s)
		return err != nil || f.Tmux != session.TmuxUnknown
	})
	return f, err
}
