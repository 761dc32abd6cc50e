package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session"
)

// launchPatience is how long start and recover wait for the panes they opened.
const launchPatience = 5 * time.Second

// awaitLaunches waits until each launched agent holds its lock or gave up, so
// that start and recover tell the truth about what they started. Those that
// ended by the time the last one runs are found, too.
func awaitLaunches(ctx context.Context, h *app.App, s *session.Session, jobs []*Job) {
	deadline := time.Now().Add(launchPatience)
	for _, j := range jobs {
		if !j.launched() {
			continue
		}
		arrived := func() bool { return !waitsForLauncher(h, s, j) }
		if !poll.Until(ctx, poll.Tick/2, time.Until(deadline), arrived) && ctx.Err() == nil {
			j.Notes = append(j.Notes, "its pane has not started yet")
		}
	}
	var seen *observe.Facts // looked at once, for all that ended
	for _, j := range jobs {
		if !j.launched() || observe.LaunchOpen(h, s.Name, j.Agent, j.generation) {
			continue
		}
		if lock, err := h.Locks.ProbeAgent(s.Name, j.Agent); err == nil && lock.State == session.LockFree {
			if seen == nil {
				f, err := observe.Observe(ctx, h, s)
				if err != nil {
					return
				}
				seen = &f
			}
			gaveUp(h, s, j, *seen)
		}
	}
}

// waitsForLauncher reports whether a launch is still on its way to its pane.
func waitsForLauncher(h *app.App, s *session.Session, j *Job) bool {
	lock, err := h.Locks.ProbeAgent(s.Name, j.Agent)
	return err != nil || (lock.State != session.LockHeld && observe.LaunchOpen(h, s.Name, j.Agent, j.generation))
}

// gaveUp explains an agent that ended at once.
func gaveUp(h *app.App, s *session.Session, j *Job, f observe.Facts) {
	if reason := observe.LaunchFailure(h, s.Name, j.Agent); reason != "" {
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
	ended := f.State(*a)
	if ended.State == session.StateCompleted {
		j.Notes = append(j.Notes, s.Agent(j.Agent).CLI+" ended at once, with success")
		return
	}
	j.refuse(fmt.Errorf("%s ended at once: %s", s.Agent(j.Agent).CLI, ended.Reason), fmt.Sprintf("paw attach %s %s", s.Name, j.Agent))
}
