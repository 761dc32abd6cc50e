package orchestrator

import (
	"context"
	"errors"
	"runtime"
	"sort"
	"strings"

	"golang.org/x/sync/errgroup"

	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
)

// SessionStatus is the effective status of one session and its agents.
type SessionStatus struct {
	Session   *session.Session
	Status    session.Status
	Reason    string // why the effective status differs from the record
	TmuxAlive *bool  // nil when tmux did not answer
	Agents    []AgentStatus
	Others    []tmux.Pane // the user's own panes in paw's tmux session
}

// AgentStatus is the effective state of one agent.
type AgentStatus struct {
	Record session.Worktree
	session.AgentStatus
	PaneID    string // where the pane is now, "" when there is none
	PaneAlive *bool  // nil when tmux did not answer
	PID       int    // of the process that holds the agent's lock, 0 when it is free
	ExitCode  *int
	Children  []string
	Dirty     *int // uncommitted files; nil when not counted

	TurnsCompleted int
	CurrentTurn    int    // number of the open turn, 0 when there is none
	LastTag        string // tag of the last finished turn, of the start before that
	Hooks          string // whether the CLI's hooks report: "seen", "silent" or "none"
}

// StatusOptions selects the sessions to show.
type StatusOptions struct {
	Name    string
	All     bool
	Closely bool // look at the screens of agents in a turn, too
}

func (o StatusOptions) closeness() closeness {
	if o.Closely {
		return whereRunning
	}
	return whereUnknown
}

// Status tells how sessions and agents are. It reads and writes nothing else,
// starts one tmux client per socket and no git; one more client where the state
// of some agent shows nowhere but on its screen. Unreadable records come back as
// problems beside the sessions that can be read.
func (p *Paw) Status(ctx context.Context, o StatusOptions) (statuses []SessionStatus, problems []error, err error) {
	sessions, problems, err := p.selectSessions(o)
	if err != nil {
		return nil, problems, err
	}
	answers := map[string]chan panesOn{} // one client per socket, all at work meanwhile
	for _, s := range sessions {
		if answers[s.Tmux.Socket] != nil {
			continue
		}
		answer := make(chan panesOn, 1)
		answers[s.Tmux.Socket] = answer
		go func() { answer <- p.askTmux()(ctx, s) }()
	}
	heard, processes := map[string]panesOn{}, lookAtProcesses()
	all := make([]*facts, len(sessions))
	for i, s := range sessions {
		agents := p.lookAtAgents(s, processes)
		on, ok := heard[s.Tmux.Socket]
		if !ok {
			on = <-answers[s.Tmux.Socket]
			heard[s.Tmux.Socket] = on
		}
		f := p.joinFacts(s, on, agents)
		all[i] = &f
	}
	p.lookAtScreens(ctx, all, o.closeness())
	tags := tagReader{p: p, read: map[string]map[string][]int{}}
	for i, s := range sessions {
		st := p.statusOf(*all[i])
		if gone(s) {
			st.Reason = strings.TrimPrefix(st.Reason+", its repository is not there any more", ", ")
		}
		tags.add(ctx, &st)
		statuses = append(statuses, st)
	}
	return statuses, problems, nil
}

// selectSessions loads the named session, all of them, or the one of this place.
func (p *Paw) selectSessions(o StatusOptions) (sessions []*session.Session, problems []error, err error) {
	if o.All {
		sessions, problems, err = p.Store.List()
		for i := range problems {
			problems[i] = p.recordError("", problems[i])
		}
		return sessions, problems, err
	}
	if o.Name != "" {
		s, err := p.load(o.Name)
		if err != nil {
			return nil, nil, err
		}
		return []*session.Session{s}, nil, nil
	}
	s, err := p.here()
	var ambiguous *session.AmbiguousError
	if errors.As(err, &ambiguous) {
		for _, name := range ambiguous.Names {
			s, err := p.load(name)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			sessions = append(sessions, s)
		}
		return sessions, problems, nil
	}
	if err != nil || s == nil {
		return nil, nil, err
	}
	return []*session.Session{s}, nil, nil
}

// statusOf decides, from the facts alone, what is shown.
func (p *Paw) statusOf(f facts) SessionStatus {
	s := f.session
	st := SessionStatus{Session: s, Others: f.others}
	st.Status, st.Reason = session.Effective(s.Status, f.tmux)
	if f.tmux != session.TmuxUnknown {
		alive := f.tmux == session.TmuxAlive
		st.TmuxAlive = &alive
	} else if f.tmuxErr != nil {
		st.Reason = silence(f.tmuxErr)
	}
	children := map[string][]string{}
	for _, w := range s.Worktrees {
		if w.Parent != "" {
			children[w.Parent] = append(children[w.Parent], w.Agent)
		}
	}
	states := p.states(f)
	for i, a := range f.agents {
		as := AgentStatus{
			Record: a.record, AgentStatus: states[i], Children: children[a.record.Agent], Hooks: hooksOf(a),
		}
		if last := a.turns.last; last != nil && last.State == turn.InProgress && f.agentStatus(a).State != session.StateSuspended {
			as.CurrentTurn = last.Number
		}
		sort.Strings(as.Children)
		if a.lock.State == session.LockHeld {
			as.PID = a.lock.PID()
		}
		if a.lockErr != nil && as.Reason == session.ReasonLockUnknown {
			as.Reason = a.lockErr.Error()
		}
		if f.tmux != session.TmuxUnknown {
			alive := a.pane != nil && !a.pane.Dead
			as.PaneAlive = &alive
		}
		if a.pane != nil {
			as.PaneID, as.ExitCode = a.pane.ID, a.pane.ExitCode
		}
		st.Agents = append(st.Agents, as)
	}
	return st
}

// silence says why nothing is known of tmux.
func silence(err error) string {
	switch {
	case errors.Is(err, tmux.ErrTimeout):
		return "tmux did not answer in time"
	case errors.Is(err, tmux.ErrNoServer):
		return "the tmux server runs but its socket is gone"
	case errors.Is(err, tmux.ErrNotInstalled):
		return "tmux is not installed"
	case errors.Is(err, tmux.ErrTooOldServer):
		return "the running tmux server is older than the tmux client"
	}
	return err.Error()
}

// CountDirty counts the uncommitted files of each agent, with one git process
// for each worktree, as many at once as there are processors.
func (p *Paw) CountDirty(ctx context.Context, statuses []SessionStatus) {
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i := range statuses {
		repository, err := worktree.Discover(statuses[i].Session.GitCommonDir)
		if err != nil {
			continue
		}
		m := p.manager(repository)
		for k := range statuses[i].Agents {
			a := &statuses[i].Agents[k]
			group.Go(func() error {
				if n, err := m.Changed(ctx, a.Record.WorktreePath); err == nil {
					a.Dirty = &n
				}
				return nil
			})
		}
	}
	_ = group.Wait()
}
