package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/session"
)

// launchPatience is how long start and recover wait for the panes they opened.
const launchPatience = 5 * time.Second

// awaitLaunches waits until each launched agent holds its lock or gave up, so
// that start and recover tell the truth about what they started. Those that
// ended by the time the last one runs are found, too.
func awaitLaunches(ctx context.Context, h *home.Home, s *session.Session, jobs []Job, launched map[string]int) {
	deadline := time.Now().Add(launchPatience)
	for i := range jobs {
		j := &jobs[i]
		generation, ok := launched[j.Agent]
		if !ok || !j.starts() {
			continue
		}
		arrived := func() bool { return !waitsForLauncher(h, s, j.Agent, generation) }
		if !home.Poll(ctx, home.Tick/2, time.Until(deadline), arrived) && ctx.Err() == nil {
			j.Notes = append(j.Notes, "its pane has not started yet")
		}
	}
	var seen *fleet.Facts // looked at once, for all that ended
	for i := range jobs {
		generation, ok := launched[jobs[i].Agent]
		if !ok || !jobs[i].starts() || fleet.LaunchOpen(h, s.Name, jobs[i].Agent, generation) {
			continue
		}
		if lock, err := h.Locks.ProbeAgent(s.Name, jobs[i].Agent); err == nil && lock.State == session.LockFree {
			if seen == nil {
				f, err := fleet.Observe(ctx, h, s)
				if err != nil {
					return
				}
				seen = &f
			}
			gaveUp(h, s, &jobs[i], *seen)
		}
	}
}

// waitsForLauncher reports whether a launch is still on its way to its pane.
func waitsForLauncher(h *home.Home, s *session.Session, name string, generation int) bool {
	lock, err := h.Locks.ProbeAgent(s.Name, name)
	return err != nil || (lock.State != session.LockHeld && fleet.LaunchOpen(h, s.Name, name, generation))
}

// gaveUp explains an agent that ended at once.
func gaveUp(h *home.Home, s *session.Session, j *Job, f fleet.Facts) {
	if reason := fleet.LaunchFailure(h, s.Name, j.Agent); reason != "" {
		j.refuse(errors.New(reason), "paw recover "+s.Name)
		return
	}
	if j.unverified {
		return // startRefused looks at it
	}
	a := f.Agent(j.Agent)
	if a == nil || a.Pane == nil || !a.Pane.Dead {
		return // a wrapper that has handed over to its program
	}
	ended := session.Observe(f.Evidence(*a))
	if ended.State == session.StateCompleted {
		j.Notes = append(j.Notes, s.Worktree(j.Agent).CLI+" ended at once, with success")
		return
	}
	j.refuse(fmt.Errorf("%s ended at once: %s", s.Worktree(j.Agent).CLI, ended.Reason), fmt.Sprintf("paw attach %s %s", s.Name, j.Agent))
}
