package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
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

// State is what the CLI of an agent does, whatever the agent waits for.
func (f Facts) State(a Agent) session.AgentStatus {
	return live.State(f.Observation(a))
}

// States are the states of the agents as shown, with what they wait for.
func States(h *app.App, f Facts) []session.AgentStatus {
	all := LiveFacts(h, f)
	agents := live.Gathered(all)
	states := make([]session.AgentStatus, len(all))
	for i, one := range all {
		states[i] = agents.Get(one.Branch).Status()
	}
	return states
}

// LiveFacts turns what was observed of a session into the facts of its agents.
// What was typed and has arrived is owed no longer, also where nobody has come
// yet to take it out of the record.
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
	one.Silent = one.Status.Cause == session.CauseSilent
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

// Arrived reports whether the prompt that tells an agent of its children is in its
// turn log: then nothing is owed any more, whatever the record says.
func Arrived(h *app.App, sessionName string, w session.Agent) bool {
	if w.Wait == nil || w.Wait.TypedAt == nil {
		return false
	}
	there, err := h.TurnDir(sessionName, w.Name).Asked(w.Wait.ID, w.Wait.Since)
	return err == nil && there
}

// How long recover waits for agents that lost their pane: a hang-up ends most at
// once, but a CLI may have hooks to run first, and a busy machine is slow. Soon it
// says what it waits for.
const (
	dyingGrace = 10 * time.Second
	dyingQuiet = time.Second
)

// AwaitDying gives agents that have lost their pane time to end. Those that stay
// are orphans.
func AwaitDying(ctx context.Context, h *app.App, f Facts) (Facts, error) {
	var dying []Agent
	grace := map[string]time.Duration{}
	for _, a := range f.Agents {
		if left := graceLeft(a, f.Now); f.Running(a) == live.Paneless && left > 0 {
			dying, grace[a.Record.Name] = append(dying, a), left
		}
	}
	if len(dying) == 0 {
		return f, nil
	}
	longest := slices.Max(slices.Collect(maps.Values(grace)))
	dying = awaitEnd(ctx, h, f.Session, dying, min(longest, dyingQuiet))
	dying = slices.DeleteFunc(dying, func(a Agent) bool { return grace[a.Record.Name] <= dyingQuiet })
	for _, a := range dying {
		h.Sayf("%s: waiting for %s to end", a.Record.Name, processNamed(a.Lock.PID()))
	}
	if len(dying) > 0 {
		awaitEnd(ctx, h, f.Session, dying, longest-dyingQuiet)
	}
	return Observe(ctx, h, f.Session)
}

// graceLeft returns how long an agent that has lost its pane may still take to end, by what its processes show.
func graceLeft(a Agent, now time.Time) time.Duration {
	var taken time.Duration
	if a.Pane != nil && !a.Pane.Dead {
		if since, err := session.StartedAt(a.Pane.PID); err == nil {
			taken = now.Sub(since)
		}
	}
	return graceFor(session.IgnoresHangUp(a.Lock.PID()), taken)
}

// graceFor returns how long a CLI may still take to end that has lost its pane to another process, 0 for none, so long ago. It may
// ignore hang-ups: then it ends at once, by what it reads from its terminal, or not at all.
func graceFor(ignoresHangUp bool, taken time.Duration) time.Duration {
	grace := dyingGrace
	if ignoresHangUp {
		grace = dyingQuiet
	}
	return max(0, grace-max(0, taken))
}

// awaitEnd polls until nothing of those agents runs on or grace is over, and
// returns those that do. One that was launched again is not waited for.
func awaitEnd(ctx context.Context, h *app.App, s *session.Session, dying []Agent, grace time.Duration) []Agent {
	poll.Until(ctx, poll.Tick, grace, func() bool {
		processes := LookAtProcesses()
		dying = slices.DeleteFunc(dying, func(a Agent) bool {
			lock, err := Probe(h, s, a.Record, processes)
			again := lock.Holder.Generation != a.Lock.Holder.Generation
			return err == nil && (again || lock.State != session.LockHeld)
		})
		return len(dying) == 0
	})
	return dying
}

// processNamed names the process that an agent runs on as, 0 for one that is not known.
func processNamed(pid int) string {
	if pid == 0 {
		return "something that it started"
	}
	return fmt.Sprintf("pid %d", pid)
}
