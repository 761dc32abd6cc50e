package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"paw/session"
	"paw/tmux"
)

// facts is everything observed of one session at one instant. Nothing in it
// comes from the record alone: panes are what tmux says, locks and processes what the kernel says.
type facts struct {
	session *session.Session
	tmux    session.Liveness
	tmuxErr error // why tmux is not alive, nil when it is
	server  tmux.Server
	tmuxID  string      // id of paw's tmux session, "" when there is none
	others  []tmux.Pane // the user's own panes in paw's tmux session
	agents  []agentFacts
	now     time.Time
}

// agentFacts is what was observed of one agent.
type agentFacts struct {
	record     session.Worktree
	lock       session.AgentLock
	lockErr    error // why the lock cannot be read, nil when it can
	pane       *tmux.Pane
	launchedAt time.Time         // of a launch that no launcher has read yet, else zero
	failure    string            // why the last launcher gave up
	open       map[int]time.Time // launches that waited for their launchers, by generation
	turns      turnFacts
}

// everLaunched tells whether a launcher of this very session ever held the
// agent's lock: then the worktree may hold work.
func (a agentFacts) everLaunched(s *session.Session) bool {
	return a.lock.State == session.LockHeld || (a.lock.Holder.PID != 0 && !a.lock.Holder.At.Before(s.CreatedAt))
}

// exited tells whether the agent's CLI has ended well, as its dead pane shows:
// with 0, or because the user left it by Ctrl-C.
func (a agentFacts) exited() bool {
	if a.lock.State != session.LockFree || a.pane == nil || !a.pane.Dead {
		return false
	}
	return a.left() || a.pane.Signal == nil && a.pane.ExitCode != nil && *a.pane.ExitCode == 0
}

// left tells whether a dead pane shows that the user left the CLI by Ctrl-C.
func (a agentFacts) left() bool {
	return a.pane != nil && a.pane.Dead && session.LeftByInterrupt(a.pane.ExitCode, a.pane.Signal)
}

// panesOn is one answer of one tmux server.
type panesOn struct {
	server tmux.Server
	panes  []tmux.Pane
	err    error
}

// askPanes lists the panes of the server that a session lives on.
type askPanes func(context.Context, *session.Session) panesOn

// askTmux asks tmux itself: one client.
func (p *Paw) askTmux() askPanes {
	return func(ctx context.Context, s *session.Session) panesOn {
		server, panes, err := p.tmuxFor(s).Panes(ctx)
		return panesOn{server, panes, err}
	}
}

// observe gathers the facts of one session: what tmux says and, in the
// meantime, what files and locks say.
func (p *Paw) observe(ctx context.Context, s *session.Session) (facts, error) {
	return p.observeWith(ctx, s, p.askTmux(), notAtScreens)
}

// observeWith is observe with another way to list the panes, and with screens.
func (p *Paw) observeWith(ctx context.Context, s *session.Session, ask askPanes, look closeness) (facts, error) {
	answer := make(chan panesOn, 1)
	go func() { answer <- ask(ctx, s) }()
	agents := p.lookAtAgents(s, lookAtProcesses())
	on := <-answer
	for _, a := range agents {
		if a.lockErr != nil { // nobody who acts may take it for free
			return facts{}, a.lockErr
		}
	}
	f := p.joinFacts(s, on, agents)
	p.lookAtScreens(ctx, []*facts{&f}, look)
	return f, nil
}

// lookAtAgents reads launches, locks and turns of the agents. The launches come
// first: a launcher takes the lock before it deletes its launch, so an agent that
// is just starting shows at least one of the two.
func (p *Paw) lookAtAgents(s *session.Session, processes processLook) []agentFacts {
	open := p.openLaunches(s.Name)
	agents := make([]agentFacts, len(s.Worktrees))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i := range s.Worktrees {
		group.Go(func() error {
			w := s.Worktrees[i]
			lock, err := p.probe(s.Name, w, processes)
			agents[i] = agentFacts{record: w, lock: lock, lockErr: err, open: open[w.Agent], turns: p.observeTurns(s, &w, lock)}
			if lock.State == session.LockFree {
				agents[i].failure = p.launchFailure(s.Name, w.Agent)
			}
			return nil
		})
	}
	_ = group.Wait()
	return agents
}

// joinFacts puts an answer of tmux and a look at the agents together.
func (p *Paw) joinFacts(s *session.Session, on panesOn, agents []agentFacts) facts {
	f := facts{session: s, server: on.server, tmuxErr: on.err, agents: agents, now: p.Now()}
	byAgent := map[string]*tmux.Pane{}
	for i := range on.panes {
		pane := &on.panes[i]
		if s.ID != "" && pane.PawID != "" && pane.PawID != s.ID {
			continue // of a session of this name in another home
		}
		ours := pane.Identity != nil && pane.Identity.Session == s.Name && s.Worktree(pane.Identity.Agent) != nil
		if (ours && f.tmuxID == "") || pane.PawSession == s.Name {
			f.tmuxID = pane.SessionID
		}
		switch {
		case ours:
			name := pane.Identity.Agent
			if old := byAgent[name]; old == nil || betterPane(pane, old) {
				byAgent[name] = pane
			}
		case pane.PawSession == s.Name:
			f.others = append(f.others, *pane)
		}
	}
	f.tmux = liveness(s, on.err, f.tmuxID != "")
	for i := range f.agents {
		a := &f.agents[i]
		if a.pane = byAgent[a.record.Agent]; a.pane != nil {
			a.launchedAt = a.open[a.pane.Identity.Generation]
		}
	}
	return f
}

// observeTurns gathers what is known of an agent's turns; the CLI's own record
// is only asked about one that runs.
func (p *Paw) observeTurns(s *session.Session, w *session.Worktree, lock session.AgentLock) turnFacts {
	f := turnFacts{launch: launchID(s.Name, w.Agent, lock.Holder.Generation), now: p.Now(), done: w.Done}
	if last, err := p.turnDir(s.Name, w.Agent).Last(); err == nil {
		f.last = last
	}
	f.headless = runsHeadless(lock)
	cli, known := p.CLIs.Get(w.CLI)
	f.visible = known && cli.Facts().Turns != turnsOfPaw
	f.late = known && cli.Facts().LateHooks
	if f.visible && lock.State == session.LockHeld && !f.headless {
		f.launched, f.prompted = lock.Holder.At, lock.Holder.Prompted
		f.hooksSeen = p.hooksSeen(s.Name, w.Agent, lock.Holder.Generation)
		f.observed = p.observed(context.Background(), s, w, f.last)
	}
	return f
}

// launchID is PAW_LAUNCH of one launch.
func launchID(sessionName, agentName string, generation int) string {
	return fmt.Sprintf("%s/%s/%d", sessionName, agentName, generation)
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
// that it is dead: an unreachable socket of a server that still runs, a
// time-out or an unknown error is silence, not death.
func liveness(s *session.Session, err error, found bool) session.Liveness {
	switch {
	case err == nil && found:
		return session.TmuxAlive
	case err == nil:
		return session.TmuxDead
	case errors.Is(err, tmux.ErrNoServer) && !serverLives(s):
		return session.TmuxDead
	}
	return session.TmuxUnknown
}

// serverLives tells whether the recorded server still runs although its socket
// does not answer (cleaners of /tmp delete sockets; anthropics/claude-code#54694).
func serverLives(s *session.Session) bool {
	return s.Tmux.ServerPID != 0 && tmux.ServerAlive(s.Tmux.ServerPID, s.Tmux.ServerStarted)
}

func (p *Paw) launchFailure(sessionName, agentName string) string {
	data, err := os.ReadFile(p.failurePath(sessionName, agentName))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// evidence turns the facts of one agent into what the state is decided from.
func (f facts) evidence(a agentFacts) session.Evidence {
	e := session.Evidence{
		Tmux: f.tmux, Record: f.session.Status, Phase: a.record.Phase, Lock: a.lock.State, HolderPID: a.lock.PID(),
		Pane: session.PaneGone, OtherBoot: a.lock.Holder.BootID != "" && a.lock.Holder.BootID != session.BootID(),
		LaunchedAt: a.launchedAt, Now: f.now,
	}
	switch {
	case f.tmux == session.TmuxUnknown:
		e.Pane = session.PaneUnknown
	case a.pane == nil:
	case a.pane.Dead:
		e.Pane, e.ExitCode, e.Signal = session.PaneDead, a.pane.ExitCode, a.pane.Signal
	default:
		e.Pane = session.PaneAlive
	}
	return e
}
