package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paw/session"
)

// launchPatience is how long start and recover wait for the panes they opened.
const launchPatience = 5 * time.Second

// awaitLaunches waits until each launched agent holds its lock or gave up, so
// that start and recover tell the truth about what they started. Those that
// ended by the time the last one runs are found, too.
func (p *Paw) awaitLaunches(ctx context.Context, s *session.Session, jobs []job, launched map[string]int) {
	deadline := time.Now().Add(launchPatience)
	for i := range jobs {
		j := &jobs[i]
		generation, ok := launched[j.agent]
		for ok && j.starts() && ctx.Err() == nil && p.waitsForLauncher(s, j.agent, generation) {
			if time.Now().After(deadline) {
				j.notes = append(j.notes, "its pane has not started yet")
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	var seen *facts // looked at once, for all that ended
	for i := range jobs {
		generation, ok := launched[jobs[i].agent]
		if !ok || !jobs[i].starts() || p.launchOpen(s.Name, jobs[i].agent, generation) {
			continue
		}
		if lock, err := p.Locks.ProbeAgent(s.Name, jobs[i].agent); err == nil && lock.State == session.LockFree {
			if seen == nil {
				f, err := p.observe(ctx, s)
				if err != nil {
					return
				}
				seen = &f
			}
			p.gaveUp(s, &jobs[i], *seen)
		}
	}
}

// waitsForLauncher tells whether a launch is still on its way to its pane.
func (p *Paw) waitsForLauncher(s *session.Session, name string, generation int) bool {
	lock, err := p.Locks.ProbeAgent(s.Name, name)
	return err != nil || (lock.State != session.LockHeld && p.launchOpen(s.Name, name, generation))
}

// gaveUp explains an agent that ended at once.
func (p *Paw) gaveUp(s *session.Session, j *job, f facts) {
	if reason := p.launchFailure(s.Name, j.agent); reason != "" {
		j.refuse(errors.New(reason), "paw recover "+s.Name)
		return
	}
	if j.unverified {
		return // startRefused looks at it
	}
	a := f.agent(j.agent)
	if a == nil || a.pane == nil || !a.pane.Dead {
		return // a wrapper that has handed over to its program
	}
	ended := session.Observe(f.evidence(*a))
	if ended.State == session.StateCompleted {
		j.notes = append(j.notes, s.Worktree(j.agent).CLI+" ended at once, with success")
		return
	}
	j.refuse(fmt.Errorf("%s ended at once: %s", s.Worktree(j.agent).CLI, ended.Reason), fmt.Sprintf("paw attach %s %s", s.Name, j.agent))
}
