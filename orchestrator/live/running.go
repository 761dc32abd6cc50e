package live

import (
	"time"

	"paw/session"
)

// Running is whether the last launch of an agent runs, and where: its lock tells whether, its pane where. Whoever
// starts, ends or prompts an agent decides by it.
type Running int

// What a lock and a pane can mean together.
const (
	NothingRuns    Running = iota // the lock is free, and nothing lives in its pane
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

// Running tells whether the agent runs, and where.
func (o Observation) Running() Running {
	pane := o.pane()
	silent, alive := pane == session.PaneUnknown, pane == session.PaneAlive
	switch o.Lock {
	case session.LockHeld:
		switch {
		case o.Headless:
			return Headless
		case silent:
			return RunningUnseen
		case alive && !o.Respawned:
			return InPane
		}
		return Paneless
	case session.LockFree:
		switch {
		case silent:
			return Unseen
		case alive && !o.LaunchedAt.IsZero():
			return Starting
		case alive:
			return Foreign
		}
		return NothingRuns
	case session.LockUnknown:
	}
	return LockUnreadable
}

// pane is what tmux says of the pane: nothing where tmux is silent, and gone where there is no server.
func (o Observation) pane() session.PaneState {
	switch {
	case o.Tmux != session.TmuxAlive && o.Tmux != session.TmuxDead:
		return session.PaneUnknown
	case o.Pane == session.PaneAlive || o.Pane == session.PaneDead || o.Pane == session.PaneGone:
		return o.Pane
	case o.Tmux == session.TmuxDead:
		return session.PaneGone
	}
	return session.PaneUnknown
}

// startGrace is how long after its launch an agent may be without its lock and still count as starting.
const startGrace = 10 * time.Second

// young reports whether a launch of the agent waits for its launcher, and was made just now. The magnitude counts: a clock
// set back must not make an old launch young for ever.
func (o Observation) young() bool {
	return !o.LaunchedAt.IsZero() && o.Now.Sub(o.LaunchedAt).Abs() < startGrace
}
