// Package observe gathers facts: which panes, locks, launches and turns a session has at one
// moment, and why an agent cannot be taken away, started or rewound now. live.State decides the
// states of agents from them.
//
// Observe looks once and returns Facts, from which everything else is decided. The package writes
// only the marks of hooks. It may import orchestrator/app, live and cli. Begin with Observe, then
// facts.go and status.go.
package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Panes is the answer of one tmux server.
type Panes struct {
	Server tmux.Server
	Panes  []tmux.Pane
	Err    error
}

// AskPanes lists the panes of a session's tmux server.
type AskPanes func(context.Context, *session.Session) Panes

// AskTmux returns an AskPanes that runs one tmux client.
func AskTmux(h *app.App) AskPanes {
	return func(ctx context.Context, s *session.Session) Panes {
		server, panes, err := h.TmuxFor(s).Panes(ctx)
		return Panes{server, panes, err}
	}
}

// NoServer is an AskPanes that reports a missing server.
func NoServer(context.Context, *session.Session) Panes { return Panes{Err: tmux.ErrNoServer} }

// Observe gathers the facts of one session, asking tmux and reading files and locks at the same
// time.
func Observe(ctx context.Context, h *app.App, s *session.Session) (Facts, error) {
	return With(ctx, h, s, AskTmux(h), NotAtScreens)
}

// With is like Observe, with another AskPanes and with screens.
func With(ctx context.Context, h *app.App, s *session.Session, ask AskPanes, look ScreenPolicy) (Facts, error) {
	f := Several(ctx, h, []*session.Session{s}, ask, look)[0]
	if err := f.LockError(); err != nil { // nobody may take an unreadable lock for a free one
		return Facts{}, err
	}
	return *f, nil
}

// Several gathers the facts of sessions at one moment, with one question to each tmux server. A lock that cannot be read is in the
// facts of its agent.
func Several(ctx context.Context, h *app.App, sessions []*session.Session, ask AskPanes, look ScreenPolicy) []*Facts {
	answers := map[string]func() Panes{} // by socket
	for _, s := range sessions {
		if answers[s.Tmux.Socket] == nil {
			answer := sync.OnceValue(func() Panes { return ask(ctx, s) })
			answers[s.Tmux.Socket] = answer
			go answer()
		}
	}
	processes, all := LookAtProcesses(), make([]*Facts, len(sessions))
	for i, s := range sessions {
		agents := LookAtAgents(ctx, h, s, processes)
		f := Join(h, s, answers[s.Tmux.Socket](), agents)
		all[i] = &f
	}
	LookAtScreens(ctx, h, all, look)
	return all
}

// LookAtAgents reads launches, locks and turns of the agents. It reads launches first: a launcher
// takes the lock before it deletes its launch file, so that a starting agent shows at least one of
// the two.
func LookAtAgents(ctx context.Context, h *app.App, s *session.Session, processes ProcessLook) []Agent {
	looking := *h
	looking.Look = &cli.Look{}
	open, refs := OpenLaunches(h, s.Name), &gitdir.Refs{CommonDir: s.GitCommonDir}
	agents := make([]Agent, len(s.Agents))
	var workers sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.NumCPU(), len(agents)) { // a goroutine for each agent would grow its stack anew
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(agents)); i = next.Add(1) - 1 {
				agents[i] = lookAt(ctx, looking.Agent(s, &s.Agents[i]), open[s.Agents[i].Name], processes, refs)
			}
		})
	}
	workers.Wait()
	return agents
}

// lookAt reads launch, lock and turns of one agent.
func lookAt(ctx context.Context, a app.Agent, open map[int]time.Time, processes ProcessLook, refs *gitdir.Refs) Agent {
	found := Agent{Record: *a.Record, open: open, Worktree: glance(ctx, *a.Record, refs), TagCommit: refs.Resolve(turn.TagRef(a.Record.TurnSession, a.Record.Last))}
	if a.Record.Phase == session.PhaseCreating {
		found.madeBy, found.made = a.App.Locks.CreatedBy(a.Session.Name, a.Record.Name)
		found.made = found.made || madeSince(a)
	}
	lock, err := a.App.Locks.PeekAgent(a.Session.Name, a.Record.Name)
	if err == nil {
		lock = withSurvivors(a.App, a.Session, lock, *a.Record, processes)
	}
	return withLock(a.App, a.Session, found, lock, err)
}

// madeSince reports whether an agent that was being made when its record was read has been launched
// since: the lock under which it is made is released after the record is saved. Its pane may not be
// among those that were listed.
func madeSince(a app.Agent) bool {
	now, err := a.App.Store.Load(a.Session.Name)
	if err != nil || now == nil {
		return false
	}
	w := now.Agent(a.Record.Name)
	return w != nil && w.Phase != session.PhaseCreating
}

// withLock adds the facts that depend on the agent's lock.
func withLock(h *app.App, s *session.Session, a Agent, lock session.AgentLock, err error) Agent {
	a.Lock, a.lockErr, a.Turns = lock, err, TurnsOf(h.Agent(s, &a.Record), lock)
	a.rewound = rewound(h.Agent(s, &a.Record), turn.NumberOf(a.Turns.Last), a.Worktree.Head)
	a.HookLost = hookLost(h, a.Record.CLI, lock)
	if last := a.Turns.Last; lock.State == session.LockHeld && !SetsUp(lock) && (last == nil || last.StartedAt.Before(lock.Holder.At)) {
		a.kept = len(h.Texts().Next(s.Name, a.Record.Name))
	}
	if lock.State == session.LockFree {
		reason, _ := LaunchFailure(h, s.Name, a.Record.Name)
		a.failure = strings.TrimPrefix(reason, a.Record.Name+": ")
	}
	return a
}

// named finds the process of an agent whose lock is held: the pane's own process, else the one that
// Probe finds.
func named(h *app.App, s *session.Session, a Agent) Agent {
	if a.Pane != nil && !a.Pane.Dead && a.Pane.PID == a.Lock.Holder.PID {
		a.Lock.HolderAlive = true
		return a
	}
	lock, err := Probe(h.Agent(s, &a.Record), LookAtProcesses())
	return withLock(h, s, a, lock, err)
}

// Join combines the answer of tmux with the facts of the agents.
func Join(h *app.App, s *session.Session, on Panes, agents []Agent) Facts {
	f := Facts{Session: s, Server: on.Server, TmuxErr: on.Err, Agents: agents, Now: h.Now()}
	byAgent := make(map[string]*tmux.Pane, len(on.Panes))
	for i := range on.Panes {
		pane := &on.Panes[i]
		if s.ID != "" && pane.PawID != "" && pane.PawID != s.ID {
			continue // the pane belongs to a session of the same name in another home
		}
		ours := pane.Identity != nil && pane.Identity.Session == s.Name && s.Agent(pane.Identity.Agent) != nil
		if pane.PawSession == s.Name {
			f.TmuxID = pane.SessionID
		}
		switch {
		case ours:
			name := pane.Identity.Agent
			if old := byAgent[name]; old == nil || betterPane(pane, old) {
				byAgent[name] = pane
			}
		case pane.PawSession == s.Name && pane.Placeholder:
			f.Left = append(f.Left, pane.ID)
		case pane.PawSession == s.Name:
			f.Others = append(f.Others, *pane)
		}
	}
	f.Tmux = liveness(s, on, f.TmuxID != "" || len(byAgent) > 0)
	if f.Tmux == session.TmuxUnknown && f.TmuxErr == nil {
		f.TmuxErr = tmux.ErrNoServer // another server answered where the session's own one listened
	}
	f.itsServer = f.Tmux == session.TmuxAlive && app.OnItsServer(s, on.Server)
	for i := range f.Agents {
		a := &f.Agents[i]
		if a.Pane = byAgent[a.Record.Name]; a.Pane != nil {
			a.LaunchedAt = a.open[a.Pane.Identity.Generation]
		}
		if lost, found := lostLock(s, *a); found {
			*a = withLock(h, s, *a, lost, nil)
			a.lockLost = true
		}
		if a.Lock.State == session.LockHeld && a.Lock.PID() == 0 {
			*a = named(h, s, *a)
		}
	}
	return f
}

// lostLock rebuilds the lock of an agent whose lock file is gone, from the process in its pane.
func lostLock(s *session.Session, a Agent) (session.AgentLock, bool) {
	if a.lockErr != nil || a.Lock.State != session.LockFree || a.Lock.Holder.PID != 0 || a.Pane == nil || a.Pane.Dead {
		return session.AgentLock{}, false
	}
	return session.LostLock(s.Name, a.Record.Name, a.Pane.Identity.Generation, a.Pane.PID)
}

// InPane returns the observation of a running agent as if it ran in its pane, without asking tmux.
func InPane(a app.Agent, lock session.AgentLock) live.Observation {
	return live.Observation{
		Now: a.App.Now(), Tmux: session.TmuxAlive, Pane: session.PaneAlive, Session: a.Session.Status, Phase: a.Record.Phase, Done: a.Record.Done, SeenCut: a.Record.SeenCut,
		Lock: lock.State, HolderPID: lock.PID(), Headless: RunsHeadless(lock), Turns: TurnsOf(a, lock),
	}
}

// TurnsOf gathers the facts about an agent's turns. It reads the CLI's own record only if the CLI
// runs.
func TurnsOf(a app.Agent, lock session.AgentLock) live.Turns {
	f := live.Turns{Launch: LaunchID(a.Session.Name, a.Record.Name, lock.Holder.Generation)}
	if last, err := a.TurnDir().Last(); err == nil {
		f.Last = last
	}
	if f.Last != nil {
		if f.Task = f.Last.Task(); f.Task == "" {
			f.Task = a.TurnDir().LastTask(f.Last.Number - 1)
		}
	}
	cli, known := a.App.CLIs.Get(a.Record.CLI)
	f.Visible = known && !cli.Facts().Unseen
	f.LateHooks = known && cli.Facts().LateHooks
	f.SilentErrors = known && cli.Facts().SilentErrors
	if SetsUp(lock) {
		f.SetUp, f.Launched, f.Prompted = lock.Holder.SetUp, lock.Holder.At, lock.Holder.Prompted
		return f
	}
	if f.Visible && lock.State == session.LockHeld && !RunsHeadless(lock) {
		f.Launched, f.Prompted = lock.Holder.At, lock.Holder.Prompted
		f.HooksSeen = hooksSeen(a.App, a.Session.Name, a.Record.Name, lock.Holder.Generation)
		f.Observed = AskRecord(context.Background(), a, f.Last)
		f.Elsewhere, f.Strays = leftWorktree(a, f)
		f.Unrecorded = notRecorded(a.App, a.Session.Name, a.Record.Name, f.Launch, f.Last)
		if f.Observed.Ended != nil {
			// A process that begins later has found an end that no hook reported.
			since := a.App.Locks.TurnHeld(a.Session.Name, a.Record.Name)
			f.Writing = !since.IsZero() && since.Sub(f.Observed.At) < live.UnseenGrace
		}
	}
	return f
}

// leftWorktree returns where the CLI works when that is not its worktree, as its own record says or else the hooks of its
// last turn, and the worktrees in the agent's own that turn has left.
func leftWorktree(a app.Agent, f live.Turns) (elsewhere string, strays []string) {
	own, common := a.Record.WorktreePath, a.Session.GitCommonDir
	last := f.Last
	c, known := a.App.CLIs.Get(a.Record.CLI)
	if last == nil || last.Launch != f.Launch && (!known || !c.Facts().Returns) {
		last = &turn.Record{}
	}
	for _, name := range last.Strays {
		if stray, there := worktree.StrayNamed(own, common, name); there && stray.Inside {
			strays = append(strays, stray.Path)
		}
	}
	return worktree.Outside(cmp.Or(f.Observed.Folder, last.Folder), own, common), strays
}

// betterPane prefers, of two panes with the same agent, the living one and then the newer launch:
// the user may have respawned or copied a pane.
func betterPane(a, b *tmux.Pane) bool {
	if a.Dead != b.Dead {
		return !a.Dead
	}
	return a.Identity.Generation > b.Identity.Generation
}

// liveness decides whether tmux still has the session. It is dead only if tmux says so, or no
// server process lives: an unreachable socket of a running server, an answer from another server,
// an unsafe socket, a time-out or an unknown error means unknown.
func liveness(s *session.Session, on Panes, found bool) session.Liveness {
	var unsafe *tmux.UnsafeError
	switch {
	case on.Err == nil && found:
		return session.TmuxAlive
	case on.Err == nil && on.Server.Socket == s.Tmux.Socket:
		return session.TmuxDead
	case on.Err == nil, errors.Is(on.Err, tmux.ErrNoServer), errors.As(on.Err, &unsafe):
		if !app.ServerLives(s) {
			return session.TmuxDead
		}
	}
	return session.TmuxUnknown
}

// ProcessLook lists the processes of the machine on its first call, and returns the same list from
// then on: a command may need it for many agents, or for none.
type ProcessLook func() session.Processes

// LookAtProcesses returns a ProcessLook that has not listed anything yet.
func LookAtProcesses() ProcessLook { return sync.OnceValue(session.ListProcesses) }

// Probe reports whether the last launch of an agent runs, and as which process. Everything that
// starts, ends or shows agents calls Probe.
func Probe(a app.Agent, processes ProcessLook) (session.AgentLock, error) {
	lock, err := a.ProbeLock()
	if err != nil {
		return lock, err
	}
	return withSurvivors(a.App, a.Session, lock, *a.Record, processes), nil
}

// withSurvivors adds to a lock the processes of the agent's CLI that no longer hold it: children of
// the launch, and background processes to which the CLI has moved the conversation.
func withSurvivors(h *app.App, s *session.Session, lock session.AgentLock, w session.Agent, processes ProcessLook) session.AgentLock {
	program := ""
	cli, known := h.CLIs.Get(w.CLI)
	if known {
		program = filepath.Base(cli.Program())
	}
	lock = lock.WithSurvivors(program, processes)
	if lock.State != session.LockFree || !known {
		return lock
	}
	for _, away := range cli.Away(h.Specs().Read(s, &w, "")) {
		lock.State, lock.Holders = session.LockHeld, append(lock.Holders, away.PID)
	}
	return lock
}

// Outlives waits until the agent has ended, at most d, and reports whether it still runs.
func Outlives(ctx context.Context, h *app.App, s *session.Session, name string, d time.Duration) bool {
	w := s.Agent(name)
	if w == nil {
		return false
	}
	return !poll.Until(ctx, poll.Tick, d, func() bool {
		lock, err := h.Locks.PeekAgent(s.Name, name)
		if err == nil && lock.State == session.LockHeld {
			return false
		}
		lock, err = Probe(h.Agent(s, w), LookAtProcesses())
		return err != nil || lock.State != session.LockHeld
	})
}

// LaunchID returns the value of PAW_LAUNCH for a launch.
func LaunchID(sessionName, agentName string, generation int) string {
	return fmt.Sprintf("%s/%s/%d", sessionName, agentName, generation)
}

// holderPID returns a process that holds the agent's lock: the one that took it or, if that is
// dead, one that inherited it.
func holderPID(lock session.AgentLock) int {
	if pid := lock.PID(); pid != 0 {
		return pid
	}
	return lock.Holder.PID
}

// leavingServer is how long a tmux server without a socket may take to end.
const leavingServer = time.Second

// Revived is like Observe, for commands that change something: it asks a tmux server that lost its
// socket to make it again, and restores lost lock files. A server without a socket may also be
// about to end, after its last pane: Revived waits for that.
func Revived(ctx context.Context, h *app.App, s *session.Session) (Facts, error) {
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
