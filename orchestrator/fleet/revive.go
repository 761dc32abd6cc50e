package fleet

import (
	"context"
	"errors"
	"fmt"

	"paw/orchestrator/home"
	"paw/session"
	"paw/tmux"
)

// ObserveRevived is Observe for commands that change something: a server that
// lost its socket is asked to make it again. One without a socket may also be on
// its way out, having lost its last pane: it is waited for.
func ObserveRevived(ctx context.Context, h *home.Home, s *session.Session) (Facts, error) {
	f, err := Observe(ctx, h, s)
	if err != nil || f.Tmux != session.TmuxUnknown || !errors.Is(f.TmuxErr, tmux.ErrNoServer) {
		return f, err
	}
	revived := tmux.Revive(s.Tmux.ServerPID, s.Tmux.ServerStarted)
	f, err = Observe(ctx, h, s)
	if revived != nil && err == nil && f.Tmux == session.TmuxUnknown {
		return f, fmt.Errorf("tmux server %d: %w", s.Tmux.ServerPID, revived)
	}
	for tries := 0; err == nil && f.Tmux == session.TmuxUnknown && tries < 100; tries++ {
		home.Sleep(ctx, home.Tick)
		f, err = Observe(ctx, h, s)
	}
	return f, err
}
