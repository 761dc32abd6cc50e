package observe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/session"
	"paw/tmux"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Facts holds all that was observed of one session at one moment: panes as tmux reports them, locks
// and processes as the kernel does.
type Facts struct {
	Session *session.Session
	Tmux    session.Liveness
	TmuxErr error // why tmux is not alive, nil when tmux is alive
	Server  tmux.Server
	TmuxID  string      // id of paw's tmux session, "" for none; panes of agents may be in other sessions
	Others  []tmux.Pane // the user's own panes in paw's tmux session
	Left    []string    // ids of panes that a killed start left without an agent
	Agents  []Agent
	Now     time.Time
	// itsServer means that the recorded tmux server answered. Recorded pane ids are valid only
	// there.
	itsServer bool
}

// Agent holds all that was observed of one agent.
type Agent struct {
	Record     session.Agent
	Lock       session.AgentLock
	lockErr    error  // why the lock cannot be read, nil when the lock was read
	rewound    string // where a rewind since the last turn has put the worktree, "" for no rewind
	lockLost   bool   // the lock file is gone, and Lock was found by the pane's process
	Worktree   worktree.Glimpse
	Pane       *tmux.Pane
	made       bool              // a living paw makes the agent's worktree
	madeBy     int               // process of that paw, 0 when unknown
	TagCommit  string            // commit of the tag of the last finished turn, "" where none is in a file
	LaunchedAt time.Time         // time of a launch that no launcher has read yet, else zero
	HookLost   string            // why this paw does not get what its CLI reports
	failure    string            // why the last launcher gave up
	open       map[int]time.Time // times of launches that no launcher had read yet, by generation
	kept       int               // prompts that its CLI, which has had none yet, is to get
	Turns      live.Turns
}

// LockError returns why the lock of an agent cannot be read, nil when all locks were read.
func (f Facts) LockError() error {
	for _, a := range f.Agents {
		if a.lockErr != nil {
			return a.lockErr
		}
	}
	return nil
}

// EverLaunched reports whether a launcher of this session ever held the agent's lock: the worktree
// may then contain work.
func (a Agent) EverLaunched(s *session.Session) bool {
	return a.Lock.State == session.LockHeld || (a.Lock.Holder.PID != 0 && !a.Lock.Holder.At.Before(s.CreatedAt))
}

// Exited reports whether a dead pane shows that the agent's CLI exited with 0, or that the user
// left it by Ctrl-C.
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

// RunsHeadless reports whether a living paw holds the lock for a headless turn.
func RunsHeadless(lock session.AgentLock) bool {
	return lock.State == session.LockHeld && lock.Holder.Headless && lock.HolderAlive
}

// HolderWords says what a paw does that holds an agent's lock: it sets the worktree up, or runs a headless turn.
func HolderWords(lock session.AgentLock) string {
	if SetsUp(lock) {
		return fmt.Sprintf("its worktree is being set up (pid %d): %s", holderPID(lock), lock.Holder.SetUp)
	}
	return fmt.Sprintf("a headless turn runs (pid %d)", holderPID(lock))
}

// SetsUp reports whether the worktree is being set up under the lock: by a launcher, which becomes the CLI afterwards, or by paw
// setup.
func SetsUp(lock session.AgentLock) bool {
	return lock.State == session.LockHeld && lock.Holder.SetUp != ""
}

// Observation converts the facts of one agent for live.State.
func (f Facts) Observation(a Agent) live.Observation {
	o := live.Observation{
		Now: f.Now, Session: f.Session.Status, Phase: a.Record.Phase, Done: a.Record.Done, SeenCut: a.Record.SeenCut, Tmux: f.Tmux, Pane: session.PaneGone,
		Closed: f.itsServer && a.Record.Phase == session.PhaseLive && a.Record.PaneID != "",
		Lock:   a.Lock.State, HolderPID: a.Lock.PID(), Headless: RunsHeadless(a.Lock), LaunchedAt: a.LaunchedAt, Failure: a.failure,
		Made: a.made, MadeBy: a.madeBy, WorktreeGone: a.Worktree.Gone, HookLost: a.HookLost, CutShort: a.Worktree.CutShort, BranchMoved: a.Worktree.Moved,
		Rewound: a.rewound, Kept: a.kept,
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
		if a.launching() {
			o.Lock, o.HolderPID = session.LockFree, 0
		}
	}
	return o
}

// launching reports whether the process in the pane is a launcher, and the lock still names the
// process of an earlier launch, which has ended: the launcher writes itself into the lock once it
// has that.
func (a Agent) launching() bool {
	return a.Lock.State == session.LockHeld && !a.Lock.HolderAlive && !a.LaunchedAt.IsZero() && a.Pane.Identity.Generation > a.Lock.Holder.Generation
}

// LaunchedSince reports whether a lock is held for a launch that was begun after the agent of s was
// observed. The generation in the lock alone does not tell: a launcher that has taken the lock may
// write itself into the lock only after the observation.
func (a Agent) LaunchedSince(s *session.Session, lock session.AgentLock) bool {
	known := max(s.Generation, a.Lock.Holder.Generation)
	if a.Pane != nil {
		known = max(known, a.Pane.Identity.Generation)
	}
	return lock.Holder.Generation > known
}

// StillHolds reports whether the agent's lock is held for the launch that was observed. The search
// through all processes for those that hold the lock, which Probe makes, takes longer than the pause
// between two looks.
func (a Agent) StillHolds(h *app.App, s *session.Session) bool {
	lock, err := h.Locks.PeekAgent(s.Name, a.Record.Name)
	return err == nil && lock.State == session.LockHeld && !a.LaunchedSince(s, lock)
}

// respawned reports whether the process in the pane is not on a terminal of the agent's running
// launch.
func (a Agent) respawned() bool {
	launch := a.Lock.Holders
	if a.Lock.Holder.PID == a.Pane.PID || a.Lock.HolderAlive {
		launch = append([]int{a.Lock.Holder.PID}, launch...)
	}
	return a.Lock.State == session.LockHeld && len(launch) > 0 &&
		!slices.ContainsFunc(launch, func(pid int) bool { return session.OnTerminalOf(a.Pane.PID, pid) })
}

// glance looks at the worktree of an agent, unless the worktree is being made or removed.
func glance(ctx context.Context, w session.Agent, refs *gitdir.Refs) worktree.Glimpse {
	if w.Phase == session.PhaseCreating || w.Phase.Removal() {
		return worktree.Glimpse{Branch: w.Branch}
	}
	return worktree.Glance(ctx, w.WorktreePath, w.Branch, refs)
}

// Running reports whether and where an agent runs.
func (f Facts) Running(a Agent) live.Running { return f.Observation(a).Running() }

// Agent returns the facts of an agent, nil for none.
func (f Facts) Agent(name string) *Agent {
	for i := range f.Agents {
		if f.Agents[i].Record.Name == name {
			return &f.Agents[i]
		}
	}
	return nil
}

// State returns the state of an agent's CLI, without its wait for children.
func (f Facts) State(a Agent) session.AgentStatus {
	return live.State(f.Observation(a))
}

// States returns the states of all agents, including their waits for children.
func States(h *app.App, f Facts) []session.AgentStatus {
	return live.States(LiveFacts(h, f))
}

// LiveFacts converts the facts of a session for package live. Results that have arrived are no
// longer owed, even if the record still has the wait.
func LiveFacts(h *app.App, f Facts) []live.Facts {
	settled := *f.Session
	settled.Agents = slices.Clone(settled.Agents)
	for _, w := range f.Session.Agents {
		if Arrived(h, f.Session.Name, w) {
			settled.SettleWait(w.Name)
		}
	}
	all := make([]live.Facts, len(f.Agents))
	for i, a := range f.Agents {
		all[i] = liveFactsOf(h, f, a, &settled)
	}
	return all
}

func liveFactsOf(h *app.App, f Facts, a Agent, settled *session.Session) live.Facts {
	branch := func(name string) live.Branch {
		w := settled.Agent(name)
		if w == nil {
			return live.Branch{}
		}
		return live.Branch{Repository: settled.GitCommonDir, Name: w.Branch}
	}
	seen, own := f.Observation(a), settled.Agent(a.Record.Name)
	one := live.Facts{
		Branch: live.Branch{Repository: settled.GitCommonDir, Name: own.Branch}, Parent: branch(a.Record.Parent), Record: *own,
		Status: live.State(seen), Last: seen.LastTurn(live.UnseenGrace),
		Running:     seen.Running() == live.InPane && Withdrawn(settled, a.Record.Name, "") == "",
		Exited:      a.Lock.State == session.LockFree && (a.Pane != nil && a.Pane.Dead || a.Pane == nil && a.Record.Phase == session.PhaseExited),
		TurnsUnseen: !a.Turns.Visible,
	}
	if a.Pane != nil {
		one.Terminals = a.Pane.Terminals
	}
	if a.Lock.State == session.LockHeld {
		one.Launch = a.Lock.Holder.Generation
	}
	for _, child := range settled.Children(a.Record.Name) {
		one.Children = append(one.Children, branch(child))
	}
	if len(one.Children) > 0 {
		one.Blocked = h.Locks.Awaits(settled.Name, a.Record.Name)
	}
	if w := one.Record.Wait; w != nil && w.TypedAt != nil {
		one.Delivering = h.Locks.DeliveryHeld(settled.Name, a.Record.Name)
	}
	return one
}

// Arrived reports whether the results that an agent waited for are in its turn log.
func Arrived(h *app.App, sessionName string, w session.Agent) bool {
	if w.Wait == nil || w.Wait.TypedAt == nil {
		return false
	}
	there, err := h.TurnDir(sessionName, w.Name).Asked(w.Wait.ID, w.Wait.Since)
	return err == nil && there
}

// Withdrawn says why an agent must not be launched although start or recover was about to: it, the
// parent that spawns it, or the session was stopped or removed in the meantime. It returns "" when
// the agent may be launched.
func Withdrawn(s *session.Session, agentName, parent string) string {
	if reason := withdrawal(s, agentName); reason != "" {
		return "it " + reason
	}
	if parent != "" {
		if reason := withdrawal(s, parent); reason != "" {
			return parent + " " + reason
		}
	}
	if s.Status == session.StatusStopped {
		return "the session was stopped in the meantime"
	}
	return ""
}

// withdrawal says why one agent must not be launched, "" when it may.
func withdrawal(s *session.Session, agentName string) string {
	switch w := s.Agent(agentName); {
	case w == nil:
		return "was removed in the meantime"
	case w.Phase.Stop():
		return "was stopped in the meantime"
	case w.Phase.Removal():
		return "is being removed"
	}
	return ""
}
