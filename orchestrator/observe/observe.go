// Package observe tells what is: which panes, locks, launches and turns a session has at one instant, and why an agent cannot
// be taken away, started or rewound now. The states of agents are decided by live.State, from what is observed here.
//
// Observe looks once and gives Facts; everything else is decided from these. The room changes nothing but the marks of
// hooks. It may import orchestrator/app, live and cli. Begin with Observe, then facts.go and status.go.
package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/session"
	"paw/tmux"
)

// Panes is one answer of one tmux server.
type Panes struct {
	Server tmux.Server
	Panes  []tmux.Pane
	Err    error
}

// AskPanes lists the panes of the server that a session lives on.
type AskPanes func(context.Context, *session.Session) Panes

// AskTmux asks tmux itself: one client.
func AskTmux(h *app.App) AskPanes {
	return func(ctx context.Context, s *session.Session) Panes {
		server, panes, err := h.TmuxFor(s).Panes(ctx)
		return Panes{server, panes, err}
	}
}

// NoServer answers in the place of tmux that no server is there.
func NoServer(context.Context, *session.Session) Panes { return Panes{Err: tmux.ErrNoServer} }

// Observe gathers the facts of one session: what tmux says and, in the
// meantime, what files and locks say.
func Observe(ctx context.Context, h *app.App, s *session.Session) (Facts, error) {
	return With(ctx, h, s, AskTmux(h), NotAtScreens)
}

// With is Observe with another way to list the panes, and with screens.
func With(ctx context.Context, h *app.App, s *session.Session, ask AskPanes, look ScreenPolicy) (Facts, error) {
	answer := make(chan Panes, 1)
	go func() { answer <- ask(ctx, s) }()
	agents := LookAtAgents(h, s, LookAtProcesses())
	f := Join(h, s, <-answer, agents)
	for _, a := range f.Agents {
		if a.lockErr != nil { // nobody who acts may take it for free
			return Facts{}, a.lockErr
		}
	}
	LookAtScreens(ctx, h, []*Facts{&f}, look)
	return f, nil
}

// LookAtAgents reads launches, locks and turns of the agents. The launches come
// first: a launcher takes the lock before it deletes its launch, so an agent that
// is just starting shows at least one of the two.
func LookAtAgents(h *app.App, s *session.Session, processes ProcessLook) []Agent {
	open := OpenLaunches(h, s.Name)
	agents := make([]Agent, len(s.Agents))
	var group sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.NumCPU(), len(agents)) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(agents)); i = next.Add(1) - 1 {
				agents[i] = lookAt(h, s, s.Agents[i], open[s.Agents[i].Name], processes)
			}
		})
	}
	group.Wait()
	return agents
}

// lookAt is LookAtAgents for one agent.
func lookAt(h *app.App, s *session.Session, w session.Agent, open map[int]time.Time, processes ProcessLook) Agent {
	lock, err := h.Locks.PeekAgent(s.Name, w.Name)
	if err == nil {
		lock = withSurvivors(h, s, lock, w, processes)
	}
	return withLock(h, s, Agent{Record: w, open: open, Worktree: glance(w)}, lock, err)
}

// withLock adds the facts that follow from the agent's lock.
func withLock(h *app.App, s *session.Session, a Agent, lock session.AgentLock, err error) Agent {
	a.Lock, a.lockErr, a.Turns = lock, err, TurnsOf(h, s, &a.Record, lock)
	if lock.State == session.LockFree {
		a.failure = LaunchFailure(h, s.Name, a.Record.Name)
	}
	return a
}

// named says as which process the launch of an agent runs, whose lock is held: as the one in its pane or, where that is another
// one, as a look at the processes says.
func named(h *app.App, s *session.Session, a Agent) Agent {
	if a.Pane != nil && !a.Pane.Dead && a.Pane.PID == a.Lock.Holder.PID {
		a.Lock.HolderAlive = true
		return a
	}
	lock, err := Probe(h, s, a.Record, LookAtProcesses())
	return withLock(h, s, a, lock, err)
}

// Join puts an answer of tmux and a look at the agents together.
func Join(h *app.App, s *session.Session, on Panes, agents []Agent) Facts {
	f := Facts{Session: s, Server: on.Server, TmuxErr: on.Err, Agents: agents, Now: h.Now()}
	byAgent := make(map[string]*tmux.Pane, len(on.Panes))
	for i := range on.Panes {
		pane := &on.Panes[i]
		if s.ID != "" && pane.PawID != "" && pane.PawID != s.ID {
			continue // of a session of this name in another home
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
		f.TmuxErr = tmux.ErrNoServer // where the session's own server listened
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

// lostLock is the lock of an agent whose lock file is gone, as the process in its pane shows.
func lostLock(s *session.Session, a Agent) (session.AgentLock, bool) {
	if a.lockErr != nil || a.Lock.State != session.LockFree || a.Lock.Holder.PID != 0 || a.Pane == nil || a.Pane.Dead {
		return session.AgentLock{}, false
	}
	return session.LostLock(s.Name, a.Record.Name, a.Pane.Identity.Generation, a.Pane.PID)
}

// InPane is the observation of an agent whose launch runs, as though in its pane: tmux is not asked.
func InPane(h *app.App, s *session.Session, w *session.Agent, lock session.AgentLock) live.Observation {
	return live.Observation{
		Now: h.Now(), Tmux: session.TmuxAlive, Pane: session.PaneAlive, Session: s.Status, Phase: w.Phase, Done: w.Done, SeenCut: w.SeenCut,
		Lock: lock.State, HolderPID: lock.PID(), Headless: RunsHeadless(lock), Turns: TurnsOf(h, s, w, lock),
	}
}

// TurnsOf gathers what is known of an agent's turns; the CLI's own record
// is only asked about one that runs.
func TurnsOf(h *app.App, s *session.Session, w *session.Agent, lock session.AgentLock) live.Turns {
	f := live.Turns{Launch: LaunchID(s.Name, w.Name, lock.Holder.Generation)}
	if last, err := h.TurnDir(s.Name, w.Name).Last(); err == nil {
		f.Last = last
	}
	if f.Last != nil {
		if f.Task = f.Last.Task(); f.Task == "" {
			f.Task = h.TurnDir(s.Name, w.Name).LastTask(f.Last.Number - 1)
		}
	}
	cli, known := h.CLIs.Get(w.CLI)
	f.Visible = known && !cli.Facts().Unseen
	f.LateHooks = known && cli.Facts().LateHooks
	if f.Visible && lock.State == session.LockHeld && !RunsHeadless(lock) {
		f.Launched, f.Prompted = lock.Holder.At, lock.Holder.Prompted
		f.HooksSeen = hooksSeen(h, s.Name, w.Name, lock.Holder.Generation)
		f.Observed = AskRecord(context.Background(), h, s, w, f.Last)
		f.Unwritable = hooksCannotWrite(h, s.Name, w.Name, f.Launch, f.Last)
		if f.Observed.Ended != nil {
			// Whoever begins later has found an end of which no hook told.
			since := h.Locks.TurnHeld(s.Name, w.Name)
			f.Writing = !since.IsZero() && since.Sub(f.Observed.At) < live.UnseenGrace
		}
	}
	return f
}

// betterPane prefers, of two panes that claim the same agent, the living one
// and then the newer launch: a user may have respawned or copied a pane.
func betterPane(a, b *tmux.Pane) bool {
	if a.Dead != b.Dead {
		return !a.Dead
	}
	return a.Identity.Generation > b.Identity.Generation
}

// liveness says whether tmux still has the session. Only tmux itself can say
// that it is dead: an unreachable socket of a server that still runs, an answer
// from another place than that server's, a socket that is not safe to ask, a
// time-out or an unknown error is silence, not death.
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

// LaunchFailure is why the last launcher of an agent gave up, "" when none did.
func LaunchFailure(h *app.App, sessionName, agentName string) string {
	data, err := os.ReadFile(FailurePath(h, sessionName, agentName))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// ProcessLook lists the processes of the machine when it is asked first, and
// answers the same from then on: one command needs it for many agents, or for none.
type ProcessLook func() session.Processes

// LookAtProcesses is a look that has not been made yet.
func LookAtProcesses() ProcessLook { return sync.OnceValue(session.ListProcesses) }

// Probe reports whether the last launch of an agent runs, and as which process.
// Everything that starts, ends or shows agents asks here.
func Probe(h *app.App, s *session.Session, w session.Agent, processes ProcessLook) (session.AgentLock, error) {
	lock, err := h.Locks.ProbeAgent(s.Name, w.Name)
	if err != nil {
		return lock, err
	}
	return withSurvivors(h, s, lock, w, processes), nil
}

// withSurvivors adds to a lock what runs on of the agent's CLI without it: processes that the launch has started, and those
// to which the CLI itself has moved the conversation.
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
	for _, away := range cli.Away(h.SpecFor(s, &w, "")) {
		lock.State, lock.Holders = session.LockHeld, append(lock.Holders, away.PID)
	}
	return lock
}

// Outlives waits until an agent does not run any more, and reports whether it
// still does after that time.
func Outlives(ctx context.Context, h *app.App, s *session.Session, name string, d time.Duration) bool {
	w := s.Agent(name)
	if w == nil {
		return false
	}
	return !poll.Until(ctx, poll.Tick, d, func() bool {
		lock, err := Probe(h, s, *w, LookAtProcesses())
		return err != nil || lock.State != session.LockHeld
	})
}

// LaunchID is PAW_LAUNCH of one launch.
func LaunchID(sessionName, agentName string, generation int) string {
	return fmt.Sprintf("%s/%s/%d", sessionName, agentName, generation)
}

// RunsHeadless reports whether a living paw holds the lock for a headless turn.
func RunsHeadless(lock session.AgentLock) bool {
	return lock.State == session.LockHeld && lock.Holder.Headless && lock.HolderAlive
}

// holderPID is a process that holds an agent's lock: the one that took it or,
// when that was killed, one that inherited it.
func holderPID(lock session.AgentLock) int {
	if pid := lock.PID(); pid != 0 {
		return pid
	}
	return lock.Holder.PID
}

// leavingServer is how long a tmux server without a socket may take to end.
const leavingServer = time.Second

// Revived is Observe for commands that change something: a server that
// lost its socket is asked to make it again, and lock files that are gone are
// written again. A server without a socket may also be on its way out, having
// lost its last pane: it is waited for.
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
