package fleet

import "paw/session"

// Running is whether the last launch of an agent runs, and where: its lock tells whether, its pane where. Whoever
// starts, ends or prompts an agent decides by it.
type Running int

// What a lock and a pane can mean together.
const (
	NotRunning     Running = iota // the lock is free, and nothing lives in its pane
	Starting                      // the lock is free, and its launcher is on the way in its pane
	Foreign                       // the lock is free, and something else than a launch lives in its pane
	InPane                        // its CLI runs in its pane
	Headless                      // a paw runs a turn of it, without a pane
	Paneless                      // its CLI, or something that it started, runs on without its pane
	RunningUnseen                 // it runs, and tmux does not say where
	Unseen                        // the lock is free, and tmux does not say whether a launcher is on the way
	LockUnreadable                // nobody can say
)

// Held reports whether a process holds the agent's lock.
func (r Running) Held() bool {
	return r == InPane || r == Headless || r == Paneless || r == RunningUnseen
}

// Free reports whether nobody holds the agent's lock.
func (r Running) Free() bool { return r != LockUnreadable && !r.Held() }

// Running tells whether an agent runs, and where.
func (f Facts) Running(a Agent) Running {
	silent, alive := f.Tmux == session.TmuxUnknown, a.Pane != nil && !a.Pane.Dead
	switch a.Lock.State {
	case session.LockHeld:
		switch {
		case RunsHeadless(a.Lock):
			return Headless
		case silent:
			return RunningUnseen
		case alive:
			return InPane
		}
		return Paneless
	case session.LockFree:
		switch {
		case silent:
			return Unseen
		case alive && !a.LaunchedAt.IsZero():
			return Starting
		case alive:
			return Foreign
		}
		return NotRunning
	case session.LockUnknown:
	}
	return LockUnreadable
}
