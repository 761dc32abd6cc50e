package observe

import (
	"slices"
	"time"

	"paw/orchestrator/live"
	"paw/session"
	"paw/tmux"
	"paw/worktree"
)

// Facts is everything observed of one session at one instant. Nothing in it
// comes from the record alone: panes are what tmux says, locks and processes what the kernel says.
type Facts struct {
	Session *session.Session
	Tmux    session.Liveness
	TmuxErr error // why tmux is not alive, nil when it is
	Server  tmux.Server
	TmuxID  string      // id of paw's own tmux session, "" when there is none; panes of agents may be elsewhere
	Others  []tmux.Pane // the user's own panes in paw's tmux session
	Left    []string    // ids of panes that wait for an agent's command; under the session's lock nobody makes them any more
	Agents  []Agent
	Now     time.Time
	// itsServer: the session lives on the server that its record names. Only panes of that one have their ids in the record.
	itsServer bool
}

// Agent is what was observed of one agent.
type Agent struct {
	Record     session.Agent
	Lock       session.AgentLock
	lockErr    error // why the lock cannot be read, nil when it can
	lockLost   bool  // its file is gone, and Lock is what the process of the pane shows
	Worktree   worktree.Glimpse
	Pane       *tmux.Pane
	LaunchedAt time.Time         // of a launch that no launcher has read yet, else zero
	failure    string            // why the last launcher gave up
	open       map[int]time.Time // launches that waited for their launchers, by generation
	Turns      live.Turns
}

// EverLaunched reports whether a launcher of this very session ever held the
// agent's lock: then the worktree may hold work.
func (a Agent) EverLaunched(s *session.Session) bool {
	return a.Lock.State == session.LockHeld || (a.Lock.Holder.PID != 0 && !a.Lock.Holder.At.Before(s.CreatedAt))
}

// Exited reports whether the agent's CLI has ended well, as its dead pane shows:
// with 0, or because the user left it by Ctrl-C.
func (a Agent) Exited() bool {
	if a.Lock.State != session.LockFree || a.Pane == nil || !a.Pane.Dead {
		return false
	}
	return a.Left() || a.Pane.Signal == nil && a.Pane.ExitCode != nil && *a.Pane.ExitCode == 0
}

// Left reports whether a dead pane shows that the user left the CLI by Ctrl-C.
func (a Agent) Left() bool {
	return a.Pane != nil && a.Pane.Dead && session.LeftByInterrupt(a.Pane.ExitCode, a.Pane.Signal)
}

// Observation turns the facts of one agent into what its state is decided from.
func (f Facts) Observation(a Agent) live.Observation {
	o := live.Observation{
		Now: f.Now, Session: f.Session.Status, Phase: a.Record.Phase, Done: a.Record.Done, SeenCut: a.Record.SeenCut, Tmux: f.Tmux, Pane: session.PaneGone,
		Closed: f.itsServer && a.Record.Phase == session.PhaseLive && a.Record.PaneID != "",
		Lock:   a.Lock.State, HolderPID: a.Lock.PID(), Headless: RunsHeadless(a.Lock), LaunchedAt: a.LaunchedAt, Failure: a.failure,
		WorktreeGone: a.Worktree.Gone, CutShort: a.Worktree.CutShort,
		OtherBoot: a.Lock.Holder.BootID != "" && a.Lock.Holder.BootID != session.BootID(),
		Turns:     a.Turns,
	}
	if a.lockErr != nil {
		o.LockError = a.lockErr.Error()
	}
	switch {
	case f.Tmux == session.TmuxUnknown:
		o.Pane = session.PaneUnknown
	case a.Pane == nil:
	case a.Pane.Dead:
		o.Pane, o.ExitCode, o.Signal = session.PaneDead, a.Pane.ExitCode, a.Pane.Signal
	default:
		o.Pane, o.Respawned = session.PaneAlive, a.respawned()
	}
	return o
}

// respawned reports whether something else than the agent's launch, which runs, has the terminal of its pane.
func (a Agent) respawned() bool {
	launch := a.Lock.Holders
	if a.Lock.Holder.PID == a.Pane.PID || a.Lock.HolderAlive {
		launch = append([]int{a.Lock.Holder.PID}, launch...)
	}
	return a.Lock.State == session.LockHeld && len(launch) > 0 &&
		!slices.ContainsFunc(launch, func(pid int) bool { return session.OnTerminalOf(a.Pane.PID, pid) })
}

// glance looks at the worktree of an agent that was made, and is not being removed.
func glance(w session.Agent) worktree.Glimpse {
	switch w.Phase {
	case session.PhaseCreating, session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
		return worktree.Glimpse{Branch: w.Branch}
	case session.PhaseLive, session.PhaseStopping, session.PhaseStopped, session.PhaseExited:
	}
	return worktree.Glance(w.WorktreePath, w.Branch)
}

// Running tells whether an agent runs, and where.
func (f Facts) Running(a Agent) live.Running { return f.Observation(a).Running() }

// Agent finds the facts of one agent.
func (f Facts) Agent(name string) *Agent {
	for i := range f.Agents {
		if f.Agents[i].Record.Name == name {
			return &f.Agents[i]
		}
	}
	return nil
}
