package launch

import (
	"context"

	"paw/orchestrator/app"
	"paw/session"
	"paw/tmux"
)

// reservation is the tmux session of agents that never ran, which tmux makes while git fills their worktrees: a new
// server needs as long as git. Its pane waits for the first agent, and closes by itself if paw is killed.
type reservation struct {
	client *tmux.Client
	made   chan struct{} // closed when session or err is there
	got    tmux.Reserved
	err    error
	used   bool
}

// reserve begins to make the tmux session of s.
func reserve(ctx context.Context, h *app.App, s *session.Session) *reservation {
	r := &reservation{client: h.TmuxFor(s), made: make(chan struct{})}
	asked := newSession(h, s, nil)
	go func() {
		defer close(r.made)
		r.got, r.err = r.client.Reserve(ctx, asked)
	}()
	return r
}

// create makes the tmux session with its agents: of the reserved one, as long as its pane waits.
func (r *reservation) create(ctx context.Context, client *tmux.Client, s tmux.NewSession) (tmux.Created, error) {
	if r == nil {
		return client.Create(ctx, s)
	}
	if <-r.made; r.err != nil {
		return tmux.Created{}, r.err
	}
	if !r.got.Waits() {
		r.withdraw(ctx)
		return client.Create(ctx, s)
	}
	r.used, s.Reserved = true, r.got
	return client.Create(ctx, s)
}

// withdraw ends the reserved session if no agent got it.
func (r *reservation) withdraw(ctx context.Context) {
	if <-r.made; !r.used {
		_ = r.client.Withdraw(context.WithoutCancel(ctx), r.got)
	}
}

// newSession describes the tmux session of s with the panes of agents.
func newSession(h *app.App, s *session.Session, agents []tmux.AgentPane) tmux.NewSession {
	width, height := terminalSize()
	return tmux.NewSession{
		Name: s.Tmux.Session, PawSession: s.Name, PawID: s.ID, Dir: s.RepoPath, Width: width, Height: height,
		Layout: h.Config.Tmux.Layout, Agents: agents, Counts: h.Config.Tmux.Counts, Bell: h.Config.Tmux.Bell,
		Mouse: !tmux.Configured(h.Getenv("HOME"), h.Getenv("XDG_CONFIG_HOME")),
	}
}
