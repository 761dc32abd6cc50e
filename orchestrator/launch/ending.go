package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// How long stop waits for the processes of a launch to end: after the pane is gone (the kernel
// sends SIGHUP), after SIGTERM, and after SIGKILL. qwen ignores all but SIGKILL while it asks for a
// permission.
const (
	hangUpGrace    = 3 * time.Second
	terminateGrace = 8 * time.Second // gemini takes 4 s while it asks for trust
	killGrace      = 3 * time.Second
)

// EndAgents names the terminals that show the agents, kills their panes by id and ends processes of
// their launches that survive. It returns the agents that had a pane or ran.
func EndAgents(ctx context.Context, h *app.App, s *session.Session, f observe.Facts, target func(string) bool) (ended []string, err error) {
	var panes []string
	var left []remains
	var unwritten error // a disk that takes no changes must not keep agents running
	for _, a := range f.Agents {
		if !target(a.Record.Name) {
			continue
		}
		if err := WithdrawLaunches(h, s.Name, a.Record.Name); err != nil {
			unwritten = err
		}
		if a.Pane != nil {
			panes = append(panes, a.Pane.ID)
		}
		if a.Pane != nil || a.Lock.State == session.LockHeld {
			ended = append(ended, a.Record.Name)
		}
		if f.Running(a) == live.Foreign {
			h.Notef("%s: its pane runs something else than its CLI (pid %d), which ends with it", a.Record.Name, a.Pane.PID)
		}
		left = append(left, remains{agent: a}) // children of a dead CLI may still write files
	}
	for _, line := range shown(f, target) {
		h.Notef("%s", line)
	}
	endAway(ctx, h, s, left)
	if err := h.TmuxFor(s).KillPanes(ctx, panes); err != nil && !errors.Is(err, tmux.ErrNoServer) {
		return ended, app.TmuxError(err)
	}
	h.Step("stop.panes-killed")
	for _, r := range left {
		if observe.RunsHeadless(r.agent.Lock) {
			_ = syscall.Kill(r.agent.Lock.Holder.PID, syscall.SIGTERM) // the launch has no pane whose end would reach the process
		}
	}
	left = awaitDeath(ctx, h, s, left, hangUpGrace, 0)
	left = awaitDeath(ctx, h, s, left, terminateGrace, syscall.SIGTERM)
	if ctx.Err() == nil {
		left = awaitDeath(ctx, h, s, left, killGrace, syscall.SIGKILL)
	}
	switch {
	case len(left) == 0 && unwritten != nil:
		return ended, errs.New(errs.Failed, "%s: stopped, but not recorded: %w", s.Name, unwritten)
	case len(left) == 0:
		return ended, nil
	case ctx.Err() != nil:
		return ended, errs.New(errs.Interrupted, "%s: interrupted before it had ended", left[0].agent.Record.Name).Hint("paw stop %s", s.Name)
	}
	return ended, left[0].stubborn(s)
}

// shown returns a line for each terminal, with the agents that it shows.
func shown(f observe.Facts, target func(string) bool) []string {
	shows := map[string][]string{}
	for _, a := range f.Agents {
		if a.Pane == nil || !target(a.Record.Name) {
			continue
		}
		for _, terminal := range a.Pane.Terminals {
			shows[terminal] = append(shows[terminal], a.Record.Name)
		}
	}
	var lines []string
	for _, terminal := range slices.Sorted(maps.Keys(shows)) {
		lines = append(lines, fmt.Sprintf("terminal %s shows %s", terminal, strings.Join(shows[terminal], ", ")))
	}
	return lines
}

// remains are the processes that are left of an agent's launch.
type remains struct {
	agent observe.Agent
	pids  []int // empty where the processes cannot be found, or nobody has looked yet
}

// stubborn returns the error for a launch that cannot be ended.
func (r remains) stubborn(s *session.Session) error {
	name := r.agent.Record.Name
	if len(r.pids) == 0 {
		return errs.New(errs.Failed, "%s: something that it started still runs and holds its lock", name).Hint("paw stop %s", s.Name)
	}
	return errs.New(errs.Failed, "%s: not even SIGKILL has ended pid %s", name, strings.Trim(fmt.Sprint(r.pids), "[]")).Hint("paw stop %s", s.Name)
}

// awaitDeath polls until no process of the launches is left or grace is over, and returns those
// that are left. Each process gets the signal once, unless that is 0. Only when a process that was
// found has ended are the processes of the machine searched again.
func awaitDeath(ctx context.Context, h *app.App, s *session.Session, of []remains, grace time.Duration, signal syscall.Signal) []remains {
	told, left := map[int]bool{}, of
	var found []session.Process
	poll.Until(ctx, poll.Tick, grace, func() bool {
		if signal == 0 && slices.ContainsFunc(of, func(r remains) bool { return r.agent.StillHolds(h, s) }) {
			return false
		}
		if len(found) > 0 && !slices.ContainsFunc(found, func(p session.Process) bool { return !p.Alive() }) {
			return false
		}
		left, found = remaining(h, s, of, signal != 0), nil
		for _, r := range left {
			for _, pid := range r.pids {
				p, _ := session.FindProcess(pid) // one that has just ended is not alive
				found = append(found, p)
				if signal != 0 && !told[pid] {
					told[pid] = true
					_ = syscall.Kill(pid, signal)
				}
			}
		}
		return len(left) == 0
	})
	return left
}

// remaining searches for processes of launches: the agent's process, and those in its terminal
// session. A daemon that left that session is the user's. While the CLI runs, other processes are
// only listed if all is set.
func remaining(h *app.App, s *session.Session, of []remains, all bool) []remains {
	var left []remains
	processes := observe.LookAtProcesses()
	for _, r := range of {
		lock, err := observe.Probe(h.Agent(s, &r.agent.Record), processes)
		if err != nil || r.agent.LaunchedSince(s, lock) {
			continue
		}
		r.pids = nil
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

// awayGrace is how long a CLI may take to end a background process.
const awayGrace = 10 * time.Second

// endAway asks the CLIs to end the background processes that they moved out of their panes.
// Whatever survives gets signals like the rest of the launch.
func endAway(ctx context.Context, h *app.App, s *session.Session, left []remains) {
	for _, r := range left {
		w := r.agent.Record
		c, executable, err := h.ProgramOf(&w)
		if err != nil || !c.Facts().Moves {
			continue
		}
		spec := h.Specs().Launch(s, &w, executable)
		for _, away := range c.Away(spec) {
			command := away.End
			if len(command.Argv) == 0 {
				continue
			}
			within, cancel := context.WithTimeout(ctx, awayGrace)
			ended := cli.Process{
				Argv: command.Argv, Dir: s.RepoPath, Env: Environment(h.Agent(s, &w), r.agent.Lock.Holder.Generation, command),
				Stdout: func([]byte) {}, Stderr: func([]byte) {}, Started: func(func()) {},
			}.Run(within)
			cancel()
			if ended.Err != nil || ended.ExitCode != 0 {
				h.HookLog().Add(w.CLI, "stop", fmt.Errorf("%s: pid %d in the background: %s", w.Name, away.PID, cmp.Or(strings.TrimSpace(ended.Trace), "not ended")))
			}
			poll.Until(ctx, poll.Tick, awayGrace, func() bool { return errors.Is(unix.Kill(away.PID, 0), unix.ESRCH) })
			h.Step("stop.away-ended")
		}
	}
}

// cleared reports whether the user began the newest conversation, as with /clear, and has said
// nothing in it, after turns in an earlier one: resuming the earlier one would undo the clearing.
// conversations has the newest last; the CLI cannot resume that one.
func cleared(conversations []string, turns []turn.Record) bool {
	if len(conversations) < 2 {
		return false
	}
	newest := conversations[len(conversations)-1]
	earlier := false
	for _, one := range turns {
		if one.Conversation == newest || one.Conversation == "" {
			return false // the conversation was used and is lost, or its use is unknown
		}
		earlier = earlier || slices.Contains(conversations, one.Conversation)
	}
	return earlier
}
