package orchestrator

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree"
)

// StatusOptions selects the sessions to show.
type StatusOptions struct {
	Name    string
	All     bool
	Closely bool // look at the screens of agents in a turn, too
}

func (o StatusOptions) closeness() observe.ScreenPolicy {
	if o.Closely {
		return observe.WhereRunning
	}
	return observe.WhereUnknown
}

// Status tells how sessions and agents are. It reads and writes nothing else,
// starts one tmux client per socket and no git; one more client where the state
// of some agent shows nowhere but on its screen. Unreadable records come back as
// problems beside the sessions that can be read.
func Status(ctx context.Context, h *app.App, o StatusOptions) (statuses []observe.SessionStatus, problems []error, err error) {
	w := NewWatch(h, o)
	defer w.Close()
	return w.Look(ctx)
}

// gather looks at the selected sessions once. meanwhile is done for each while tmux answers and the agents are looked at.
func gather(ctx context.Context, h *app.App, o StatusOptions, meanwhile func(*session.Session)) (all []*observe.Facts, problems []error, err error) {
	answers := map[string]chan observe.Panes{} // one client per socket, all at work meanwhile
	ask := func(socket string) {
		if answers[socket] != nil {
			return
		}
		answer := make(chan observe.Panes, 1)
		answers[socket] = answer
		go func() { answer <- observe.AskTmux(h)(ctx, &session.Session{Tmux: session.Tmux{Socket: socket}}) }()
	}
	early := *h
	early.Store.Early = ask
	sessions, problems, err := selectSessions(&early, o)
	if err != nil {
		return nil, problems, err
	}
	for _, s := range sessions {
		ask(s.Tmux.Socket)
	}
	heard, processes := map[string]observe.Panes{}, observe.LookAtProcesses()
	all = make([]*observe.Facts, len(sessions))
	for i, s := range sessions {
		var other sync.WaitGroup
		other.Go(func() { meanwhile(s) })
		agents := observe.LookAtAgents(h, s, processes)
		other.Wait()
		on, ok := heard[s.Tmux.Socket]
		if !ok {
			on = <-answers[s.Tmux.Socket]
			heard[s.Tmux.Socket] = on
		}
		f := observe.Join(h, s, on, agents)
		all[i] = &f
	}
	observe.LookAtScreens(ctx, h, all, o.closeness())
	return all, problems, nil
}

// noteGone says of a session that its repository is not there any more.
func noteGone(st *observe.SessionStatus) {
	if app.Gone(st.Session) {
		st.Reason = strings.TrimPrefix(st.Reason+", its repository is not there any more", ", ")
	}
}

// selectSessions loads the named session, all of them, or the one of this place.
func selectSessions(h *app.App, o StatusOptions) (sessions []*session.Session, problems []error, err error) {
	if o.All {
		sessions, problems, err = h.Store.List()
		for i := range problems {
			problems[i] = h.RecordError("", problems[i])
		}
		return sessions, problems, err
	}
	if o.Name != "" {
		s, err := h.Load(o.Name)
		if err != nil {
			return nil, nil, err
		}
		return []*session.Session{s}, nil, nil
	}
	sessions, err = h.SessionsHere()
	if err == nil && len(sessions) == 0 {
		if unreadable := h.UnreadableHere(); unreadable != nil {
			problems = append(problems, unreadable)
		}
	}
	return sessions, problems, err
}

// CountLines counts the lines that an agent has changed since its base, with one git process.
func CountLines(ctx context.Context, s *session.Session, agentName string) (worktree.Lines, error) {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return worktree.Lines{}, err
	}
	repository, err := worktree.Discover(s.GitCommonDir)
	if err != nil {
		return worktree.Lines{}, err
	}
	return worktree.Manager{Repository: repository}.ChangedLines(ctx, w.WorktreePath, w.BaseCommit)
}

// CountDirty counts the uncommitted files of each agent and the lines that it has
// changed since its base, with two git processes for each worktree, as many at
// once as there are processors.
func CountDirty(ctx context.Context, h *app.App, statuses []observe.SessionStatus) {
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i := range statuses {
		repository, err := worktree.Discover(statuses[i].Session.GitCommonDir)
		if err != nil {
			continue
		}
		m := h.Manager(repository)
		for k := range statuses[i].Agents {
			a := &statuses[i].Agents[k]
			group.Go(func() error {
				if n, err := m.Changed(ctx, a.Record.WorktreePath); err == nil {
					a.Dirty = &n
				}
				if lines, err := m.ChangedLines(ctx, a.Record.WorktreePath, a.Record.BaseCommit); err == nil {
					a.Lines = &lines
				}
				return nil
			})
		}
	}
	_ = group.Wait()
}
