package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"paw/session"
	"paw/tmux"
)

// How long stop waits for what a launch has left after its pane is gone (the
// kernel sends SIGHUP), again after SIGTERM, and after SIGKILL. qwen ignores all
// but the last while it asks for a permission.
const (
	hangUpGrace    = 3 * time.Second
	terminateGrace = 8 * time.Second // gemini takes 4 where it asks for trust
	killGrace      = 3 * time.Second
)

// endAgents kills the panes by id and ends what runs on of the agents' launches.
// It returns the agents that had a pane or ran.
func (p *Paw) endAgents(ctx context.Context, s *session.Session, f facts, target func(string) bool) (ended []string, err error) {
	var panes []string
	var ending []agentFacts
	for _, a := range f.agents {
		if !target(a.record.Agent) {
			continue
		}
		if err := p.withdrawLaunches(s.Name, a.record.Agent); err != nil {
			return ended, err
		}
		if a.pane != nil {
			panes = append(panes, a.pane.ID)
		}
		if a.pane != nil || a.lock.State == session.LockHeld {
			ended = append(ended, a.record.Agent)
		}
		ending = append(ending, a) // also one whose CLI is dead: what it has started may still write files
	}
	if err := p.tmuxFor(s).KillPanes(ctx, panes); err != nil && !errors.Is(err, tmux.ErrNoServer) {
		return ended, tmuxError(err)
	}
	p.Step("stop.panes-killed")
	for _, a := range ending {
		if runsHeadless(a.lock) {
			_ = syscall.Kill(a.lock.Holder.PID, syscall.SIGTERM) // no pane whose end it would notice
		}
	}
	left := p.awaitDeath(ctx, s, ending, hangUpGrace, nil)
	left = p.awaitDeath(ctx, s, agentsOf(left), terminateGrace, signalOnce(syscall.SIGTERM))
	if ctx.Err() == nil {
		left = p.awaitDeath(ctx, s, agentsOf(left), killGrace, signalOnce(syscall.SIGKILL))
	}
	switch {
	case len(left) == 0:
		return ended, nil
	case ctx.Err() != nil:
		return ended, failf(KindInterrupted, "%s: interrupted before it had ended", left[0].agent.record.Agent).hint("paw stop %s", s.Name)
	}
	return ended, left[0].stubborn(s)
}

func signalOnce(sig syscall.Signal) func(pid int) {
	return func(pid int) { _ = syscall.Kill(pid, sig) }
}

// remains are what still runs of an agent's launch.
type remains struct {
	agent agentFacts
	pids  []int // none where something runs that cannot be found
}

func agentsOf(left []remains) []agentFacts {
	agents := make([]agentFacts, len(left))
	for i, r := range left {
		agents[i] = r.agent
	}
	return agents
}

// stubborn is the error of a launch that cannot be ended.
func (r remains) stubborn(s *session.Session) error {
	name := r.agent.record.Agent
	if len(r.pids) == 0 {
		return failf(KindError, "%s: something that it started still runs and holds its lock", name).hint("paw stop %s", s.Name)
	}
	return failf(KindError, "%s: not even SIGKILL has ended pid %s", name, strings.Trim(fmt.Sprint(r.pids), "[]")).hint("paw stop %s", s.Name)
}

// awaitDeath polls until nothing of the agents' launches runs any more or grace
// is over, and returns what does. Each process that is found is told once.
func (p *Paw) awaitDeath(ctx context.Context, s *session.Session, agents []agentFacts, grace time.Duration, tell func(pid int)) []remains {
	told := map[int]bool{}
	for deadline := time.Now().Add(grace); ; settle(ctx, tick) {
		left := p.remaining(s, agents, tell != nil)
		for _, r := range left {
			for _, pid := range r.pids {
				if tell != nil && !told[pid] {
					told[pid] = true
					tell(pid)
				}
			}
		}
		if len(left) == 0 || time.Now().After(deadline) || ctx.Err() != nil {
			return left
		}
	}
}

// remaining looks what is left of launches: the process that an agent runs as,
// and what is in its terminal session. Daemons that left that session are the
// user's. While a CLI runs, what is beside it is listed only when asked for.
func (p *Paw) remaining(s *session.Session, agents []agentFacts, all bool) []remains {
	var left []remains
	processes := lookAtProcesses()
	for _, a := range agents {
		lock, err := p.probe(s.Name, a.record, processes)
		if err != nil || lock.Holder.Generation != a.lock.Holder.Generation {
			continue
		}
		r := remains{agent: a}
		runs := lock.State == session.LockHeld
		if runs && lock.HolderAlive {
			r.pids = []int{lock.Holder.PID}
		} else if runs {
			r.pids = slices.Clone(lock.Holders)
		}
		if all || !runs {
			r.pids = append(r.pids, lock.Holder.Launched(processes())...)
			slices.Sort(r.pids)
			r.pids = slices.Compact(r.pids)
		}
		if runs || len(r.pids) > 0 {
			left = append(left, r)
		}
	}
	return left
}
