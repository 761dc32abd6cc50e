package launch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
)

// mostNames limits how many names paw tries for a tmux session. A name may be taken by a paw with
// another home, or by a program that restores tmux sessions after a reboot.
const mostNames = 100

// openPanes starts the agents: under the session lock it looks once more at panes and locks, opens
// a pane for each agent that has none, and records it. Of several paws that do so at once one opens
// the panes, and the others find them.
//
// reserved is the tmux session of agents that never ran, nil for none; without such agents it is not used.
func openPanes(ctx context.Context, h *app.App, s *session.Session, jobs []*Job, reserved *reservation) (*session.Session, error) {
	saved, err := h.UpdateSoon(ctx, s.Name, func(rec *session.Session) error {
		if f, never := neverLaunched(ctx, h, rec); never {
			if err := startIn(ctx, h, rec, f, jobs, reserved); !errors.Is(err, tmux.ErrDuplicate) {
				return err
			}
		}
		f, err := observe.Observe(ctx, h, rec)
		if err != nil {
			return err
		}
		if f.Tmux == session.TmuxUnknown {
			if errors.Is(f.TmuxErr, tmux.ErrNoServer) {
				return observe.Unanswered(rec, f.TmuxErr)
			}
			return app.TmuxError(f.TmuxErr)
		}
		taken := rec.Tmux.Session
		for n := 2; ; n++ {
			err := startIn(ctx, h, rec, f, jobs, nil)
			if !errors.Is(err, tmux.ErrDuplicate) || n > mostNames {
				if err == nil && rec.Tmux.Session != taken {
					h.Notef("tmux session %s is not of this session, which takes %s", taken, rec.Tmux.Session)
				}
				return err
			}
			rec.Tmux.Session = fmt.Sprintf("paw-%s_%d", rec.Name, n)
		}
	})
	if err != nil {
		return s, err
	}
	return saved, nil
}

// neverLaunched returns the facts of a session without a recorded launch and without running
// agents. tmux is not asked: if a killed paw had opened panes, creating the tmux session fails
// because the name exists.
func neverLaunched(ctx context.Context, h *app.App, s *session.Session) (f observe.Facts, never bool) {
	if s.Generation > 0 {
		return f, false
	}
	f, err := observe.With(ctx, h, s, observe.NoServer, observe.NotAtScreens)
	runs := slices.ContainsFunc(f.Agents, func(a observe.Agent) bool { return a.Lock.State != session.LockFree })
	return f, err == nil && f.Tmux == session.TmuxDead && !runs
}

// startIn opens and records panes for the jobs that start.
func startIn(ctx context.Context, h *app.App, rec *session.Session, f observe.Facts, jobs []*Job, reserved *reservation) error {
	generation := NextGeneration(rec, f)
	var add []tmux.AgentPane
	respawn := map[string]tmux.AgentPane{}
	for _, j := range jobs {
		a := f.Agent(j.Agent)
		if !j.Starts() || a == nil {
			continue
		}
		if reason := observe.Withdrawn(rec, j.Agent, j.Parent); reason != "" {
			j.Refuse(errors.New(reason), "paw recover "+rec.Name)
			continue
		}
		if running := f.Running(*a); running.Held() || running == live.Starting {
			j.Kind, j.Reason = ResultAlive, "" // another paw was faster
			continue
		}
		pane, err := prepareLaunch(ctx, h, rec, j, generation)
		if err != nil {
			j.Refuse(err)
			continue
		}
		j.generation = generation
		if a.Pane != nil && a.Pane.Dead && a.Pane.SessionID == f.TmuxID {
			respawn[a.Pane.ID] = pane
		} else {
			add = append(add, pane)
		}
	}
	h.Step("panes.prepared")
	opened, err := placePanes(ctx, h, rec, f, add, respawn, reserved)
	if err != nil {
		for _, j := range jobs {
			if j.generation == generation { // the launch file contains keys, and no launcher will read and delete it
				err = errors.Join(err, WithdrawLaunches(h, rec.Name, j.Agent))
			}
		}
		return err
	}
	if len(add)+len(respawn) > 0 {
		rec.Generation = generation
	}
	if err := h.TmuxFor(rec).KillPanes(ctx, f.Left); err != nil {
		return app.TmuxError(err)
	}
	h.Step("panes.opened")
	recordPanes(rec, f, opened, jobs)
	return nil
}

// NextGeneration returns a number above every launch that the record, a lock or tmux knows.
func NextGeneration(s *session.Session, f observe.Facts) int {
	highest := s.Generation
	for _, a := range f.Agents {
		highest = max(highest, a.Lock.Holder.Generation)
		if a.Pane != nil {
			highest = max(highest, a.Pane.Identity.Generation)
		}
	}
	return highest + 1
}

// placePanes creates the tmux session or adds panes to it, and respawns dead panes. It returns the
// panes by agent.
func placePanes(ctx context.Context, h *app.App, s *session.Session, f observe.Facts, add []tmux.AgentPane, respawn map[string]tmux.AgentPane, reserved *reservation) (map[string]string, error) {
	client := h.TmuxFor(s)
	opened := map[string]string{}
	for id, pane := range respawn {
		if err := client.Respawn(ctx, id, pane); err != nil && !errors.Is(err, tmux.ErrStillActive) {
			return nil, app.TmuxError(err)
		}
		opened[pane.Identity.Agent] = id
	}
	if len(add) == 0 {
		return opened, nil
	}
	if f.TmuxID != "" {
		added, err := client.AddPanes(ctx, f.TmuxID, h.Config.Tmux.Layout, add)
		maps.Copy(opened, added)
		return opened, app.TmuxError(err)
	}
	created, err := reserved.create(ctx, client, newSession(h, s, add))
	if err != nil {
		return nil, app.TmuxError(err)
	}
	if !app.OnItsServer(s, created.Server) {
		for i := range s.Agents {
			s.Agents[i].PaneID = "" // an id of another server; this one counts anew
		}
	}
	s.Tmux.SetServer(created.Server.Socket, created.Server.PID, created.Server.Started)
	maps.Copy(opened, created.Panes)
	return opened, nil
}

// RecordAlive records what was found of agents, none of which is started.
func RecordAlive(s *session.Session, f observe.Facts, jobs []Job) {
	recordPanes(s, f, nil, pointersTo(jobs))
}

// recordPanes records panes: those that were opened now, by agent, and those that were found.
func recordPanes(s *session.Session, f observe.Facts, opened map[string]string, jobs []*Job) {
	if f.Tmux == session.TmuxAlive {
		s.Tmux.SetServer(f.Server.Socket, f.Server.PID, f.Server.Started)
	}
	for _, j := range jobs {
		a, w, pane := f.Agent(j.Agent), s.Agent(j.Agent), opened[j.Agent]
		if a != nil && a.Pane != nil && pane == "" {
			pane = a.Pane.ID
		}
		if w != nil && pane != "" && j.Kind != ResultRefused {
			w.PaneID, w.Phase = pane, session.PhaseLive
		}
	}
	for _, a := range f.Agents {
		w := s.Agent(a.Record.Name)
		if w != nil && opened[a.Record.Name] == "" && w.Phase == session.PhaseLive && a.Exited() {
			w.Phase = session.PhaseExited // nothing else tells of the exit once the pane is gone
		}
	}
}

// terminalSize returns the size of the user's terminal, or zero without one. Without a size tmux
// lays a detached session out for 80x24.
func terminalSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// launchPatience is how long start and recover wait for the panes that they opened.
const launchPatience = 5 * time.Second

// awaitLaunches waits until each launched agent holds its lock or gave up, so that start and
// recover report what really started.
func awaitLaunches(ctx context.Context, h *app.App, s *session.Session, jobs []*Job) {
	deadline := time.Now().Add(launchPatience)
	for _, j := range jobs {
		if !j.launched() {
			continue
		}
		arrived := func() bool { return !waitsForLauncher(h, s, j) }
		if !poll.Until(ctx, poll.Tick/40, time.Until(deadline), arrived) && ctx.Err() == nil {
			j.Notes = append(j.Notes, "its pane has not started yet")
		}
	}
}

// awaitSetUps waits for the set-ups of the jobs that cannot go on without: those that the user waits
// for, and those whose CLI may refuse its conversation. Of the others it notes that their set-up
// runs.
func awaitSetUps(ctx context.Context, h *app.App, s *session.Session, jobs []*Job) {
	for _, j := range jobs {
		if !j.launched() || j.setUp == nil {
			continue
		}
		running := ""
		over := func() bool {
			running = ""
			if lock, err := h.Locks.PeekAgent(s.Name, j.Agent); err == nil && lock.State == session.LockHeld && lock.Holder.Generation == j.generation {
				running = lock.Holder.SetUp
			}
			return !observe.LaunchOpen(h, s.Name, j.Agent, j.generation)
		}
		if !j.AwaitSetUp && !j.unverified {
			if !over() && running != "" {
				j.Notes = append(j.Notes, "its set-up runs in its pane: "+running)
			}
			continue
		}
		patience := time.Duration(h.Config.Worktree.SetupSeconds)*time.Second + endPatience
		if !poll.Until(ctx, poll.Tick, patience, over) {
			j.Notes = append(j.Notes, strings.TrimSuffix("its set-up still runs in its pane: "+running, ": "))
			continue
		}
		if text, err := os.ReadFile(h.SetUpNotesPath(s.Name, j.Agent)); err == nil && len(text) > 0 {
			j.Notes = append(j.Notes, strings.Split(strings.TrimSpace(string(text)), "\n")...)
		}
	}
}

// endPatience is how long after the end of its time a set-up may take to end.
const endPatience = 30 * time.Second

// refuseEnded refuses the jobs whose launcher gave up, or whose CLI ended at once, and those whose
// agent was stopped meanwhile, as while the user waited for its set-up.
func refuseEnded(ctx context.Context, h *app.App, s *session.Session, jobs []*Job) {
	for _, j := range jobs {
		if !j.launched() || observe.LaunchOpen(h, s.Name, j.Agent, j.generation) {
			continue
		}
		if j.AwaitSetUp && refuseStopped(h, s, j) {
			continue
		}
		if reason, hints := observe.LaunchFailure(h, s.Name, j.Agent); reason != "" {
			_, _ = awaitFacts(ctx, h, s, j.Agent, func(a *observe.Agent) bool { // a launcher holds the lock until it is gone
				return (a.Pane == nil || a.Pane.Dead) && a.Lock.State != session.LockHeld
			})
			j.Refuse(errors.New(reason), hints...)
		} else if leftLock(ctx, h, s, j) {
			f, err := awaitFacts(ctx, h, s, j.Agent, func(a *observe.Agent) bool { return a.Pane == nil || a.Pane.Dead || runs(a.Pane.PID) })
			if err == nil && !refuseStopped(h, s, j) {
				endedAtOnce(s, j, f)
			}
		}
	}
}

// refuseStopped refuses a job whose agent was stopped since it was launched, and reports whether it was.
func refuseStopped(h *app.App, s *session.Session, j *Job) bool {
	now, err := h.Load(s.Name)
	if err != nil {
		return false
	}
	reason, back := observe.Withdrawn(now, j.Agent, ""), "paw recover "+s.Name
	if reason == "" {
		return false
	}
	if now.Status != session.StatusStopped {
		back += " " + j.Agent
	}
	j.Refuse(errors.New(reason), back)
	return true
}

// leftLock reports whether a launcher that is over has left the agent's lock free. One that was killed in its set-up lets go
// of its two locks one after the other, so that lock may be held for another moment.
func leftLock(ctx context.Context, h *app.App, s *session.Session, j *Job) bool {
	var lock session.AgentLock
	var err error
	poll.Until(ctx, poll.Tick, launchPatience, func() bool {
		lock, err = h.Locks.ProbeAgent(s.Name, j.Agent)
		return err != nil || lock.State != session.LockHeld || lock.Holder.SetUp == ""
	})
	return err == nil && lock.State == session.LockFree
}

// awaitFacts observes an agent until over holds, at most for launchPatience, and returns what it saw last. tmux and the kernel notice the end
// of a process a moment after it: a paw status right after a failed start is not to find it running.
func awaitFacts(ctx context.Context, h *app.App, s *session.Session, agent string, over func(*observe.Agent) bool) (f observe.Facts, err error) {
	poll.Until(ctx, poll.Tick, launchPatience, func() bool {
		f, err = observe.Observe(ctx, h, s)
		a := f.Agent(agent)
		return err != nil || a == nil || over(a)
	})
	return f, err
}

// runs reports whether there is a process with that PID that has not ended.
func runs(pid int) bool {
	p, err := session.FindProcess(pid)
	return err == nil && p.Alive()
}

// waitsForLauncher reports whether a launch has neither become the CLI nor begun its set-up.
func waitsForLauncher(h *app.App, s *session.Session, j *Job) bool {
	lock, err := h.Locks.PeekAgent(s.Name, j.Agent)
	setsUp := lock.State == session.LockHeld && lock.Holder.Generation >= j.generation && lock.Holder.SetUp != ""
	return err != nil || !setsUp && observe.LaunchOpen(h, s.Name, j.Agent, j.generation)
}

// endedAtOnce refuses the job of an agent whose CLI ended at once.
func endedAtOnce(s *session.Session, j *Job, f observe.Facts) {
	if j.unverified {
		return // left to startRefused
	}
	a := f.Agent(j.Agent)
	if a == nil || a.Pane == nil || !a.Pane.Dead {
		return // the program was a wrapper that handed over to the agent's program
	}
	ended := f.State(*a)
	if ended.State == session.StateCompleted {
		j.Notes = append(j.Notes, s.Agent(j.Agent).CLI+" ended at once, with success")
		return
	}
	j.Refuse(fmt.Errorf("%s ended at once: %s", s.Agent(j.Agent).CLI, ended.Reason), fmt.Sprintf("paw attach %s %s", s.Name, j.Agent))
}
