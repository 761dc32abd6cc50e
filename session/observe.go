package session

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// startGrace is how long after its launch an agent may be without its lock and still count as starting.
const startGrace = 10 * time.Second

// State is what an agent is doing.
type State string

// The states of an agent.
const (
	StateSuspended       State = "suspended" // on disk only
	StateIdle            State = "idle"
	StateRunning         State = "running"
	StateWaitingInput    State = "waiting_input"
	StateWaitingChildren State = "waiting_children"
	StateCompleted       State = "completed" // done, or the CLI exited with 0
	StateError           State = "error"     // the CLI exited otherwise, or its last turn failed
	StateUnknown         State = "unknown"   // cannot be known; never a guess
)

// Source is where a state comes from.
type Source string

// The sources of a state, the most exact first.
const (
	SourceHook       Source = "hook"
	SourceRecord     Source = "record"
	SourceTranscript Source = "transcript"
	SourceTmux       Source = "tmux"
	SourceLock       Source = "lock"
	SourceNone       Source = "none"
)

// PaneState is what tmux says about an agent's pane.
type PaneState string

// What a pane may be.
const (
	PaneAlive   PaneState = "alive"
	PaneDead    PaneState = "dead" // its process ended and the pane remains
	PaneGone    PaneState = "gone"
	PaneUnknown PaneState = "unknown"
)

// Evidence is what was observed of one agent at one moment.
type Evidence struct {
	Tmux      Liveness
	Record    Status // of the session
	Phase     Phase  // of the agent
	Lock      LockState
	HolderPID int // process that holds the lock, 0 when not known
	Pane      PaneState
	ExitCode  *int // of a dead pane; nil when tmux does not tell
	Signal    *int // that killed a dead pane's process; nil when none or tmux does not tell
	OtherBoot bool // the agent was last launched before the machine's last boot
	// Closed: the server that the agent was launched on still has the session. A pane that is gone from it was closed by
	// somebody, since one whose program ends stays.
	Closed bool
	// LaunchedAt is when the agent was last launched, zero when that is not known.
	LaunchedAt time.Time
	Now        time.Time
}

// Limit is a usage limit that is reached.
type Limit struct {
	Until time.Time // when it is lifted, zero where nobody says
}

// AgentStatus is the state of an agent as shown.
type AgentStatus struct {
	State  State
	Since  *time.Time // nil when not known
	Source Source
	Reason string // "" when the state says it all
	Cause  Cause
	// Limit is the usage limit that the agent waits for, in whatever state that is; nil for none.
	Limit *Limit
	// Orphan: the CLI runs on without its pane. It is never started a second time.
	Orphan bool
}

// Observe tells an agent's state from the evidence. The lock says whether the CLI runs, the pane how it ended, and only
// the record whether that was meant: to the CLI itself a user's kill, a server's kill and a crash look the same.
func Observe(e Evidence) AgentStatus {
	pane := e.Pane
	if pane != PaneAlive && pane != PaneDead && e.Tmux == TmuxDead {
		pane = PaneGone // where there is no server there are no panes
	}
	known := pane == PaneAlive || pane == PaneDead || pane == PaneGone
	if !known || (e.Tmux != TmuxAlive && e.Tmux != TmuxDead) {
		return AgentStatus{State: StateUnknown, Source: SourceNone, Reason: ReasonTmuxSilent}
	}
	switch e.Lock {
	case LockHeld:
		return observeHeld(e, pane)
	case LockFree:
		return observeFree(e, pane)
	case LockUnknown:
	}
	return AgentStatus{State: StateUnknown, Source: SourceNone, Reason: ReasonLockUnknown, Cause: CauseLockUnknown}
}

// observeHeld is the state of an agent whose CLI runs.
func observeHeld(e Evidence, pane PaneState) AgentStatus {
	if pane == PaneAlive {
		return AgentStatus{State: StateUnknown, Source: SourceLock, Reason: ReasonNoTurns, Cause: CauseRuns}
	}
	holder := "a process"
	if e.HolderPID > 0 {
		holder = fmt.Sprintf("process %d", e.HolderPID)
	}
	return AgentStatus{State: StateUnknown, Source: SourceLock, Reason: holder + " runs on without its pane", Orphan: true}
}

// observeFree is the state of an agent whose CLI does not run, as far as its lock tells.
func observeFree(e Evidence, pane PaneState) AgentStatus {
	switch pane {
	case PaneDead:
		return observeExit(e)
	case PaneAlive:
		// Abs: a clock set back must not make an old launch young for ever.
		if !e.LaunchedAt.IsZero() && e.Now.Sub(e.LaunchedAt).Abs() < startGrace {
			since := e.LaunchedAt
			return AgentStatus{State: StateUnknown, Since: &since, Source: SourceTmux, Reason: ReasonStarting}
		}
		return AgentStatus{State: StateUnknown, Source: SourceTmux, Reason: ReasonForeign}
	case PaneGone, PaneUnknown:
	}
	switch {
	case e.Phase == PhaseExited:
		return AgentStatus{State: StateCompleted, Source: SourceRecord, Reason: ReasonOver}
	case e.Record == StatusStopped || e.Phase == PhaseStopping || e.Phase == PhaseStopped:
		return AgentStatus{State: StateSuspended, Source: SourceRecord, Reason: ReasonStopped, Cause: CauseStopped}
	case e.OtherBoot:
		return AgentStatus{State: StateSuspended, Source: SourceTmux, Reason: ReasonReboot}
	case e.Closed:
		return AgentStatus{State: StateSuspended, Source: SourceTmux, Reason: ReasonClosed, Cause: CauseClosed}
	}
	return AgentStatus{State: StateSuspended, Source: SourceTmux, Reason: ReasonCrash}
}

// observeExit is the state of an agent whose pane shows how its CLI ended. Before 3.3 tmux tells neither code nor signal
// of a killed process, so nothing told is never success.
func observeExit(e Evidence) AgentStatus {
	switch {
	case LeftByInterrupt(e.ExitCode, e.Signal):
		return AgentStatus{State: StateCompleted, Source: SourceTmux, Reason: ReasonLeft}
	case e.Signal != nil:
		return AgentStatus{State: StateError, Source: SourceTmux, Reason: "killed by " + signalName(*e.Signal)}
	case e.ExitCode == nil:
		return AgentStatus{State: StateError, Source: SourceTmux, Reason: ReasonNoExit}
	case *e.ExitCode == 0:
		return AgentStatus{State: StateCompleted, Source: SourceTmux, Reason: ReasonExited}
	}
	return AgentStatus{State: StateError, Source: SourceTmux, Reason: fmt.Sprintf("exit code %d", *e.ExitCode)}
}

// LeftByInterrupt reports whether a process ended by Ctrl-C, which its user pressed to leave it: it died of SIGINT, or
// ended with 128 + SIGINT as programs and shells do that have caught it. Of a CLI that takes its time to end, the second
// Ctrl-C may come when it does not catch the signal any more.
func LeftByInterrupt(exitCode, signal *int) bool {
	if signal != nil {
		return *signal == int(unix.SIGINT)
	}
	return exitCode != nil && *exitCode == 128+int(unix.SIGINT)
}

func signalName(number int) string {
	if name := unix.SignalName(unix.Signal(number)); name != "" {
		return fmt.Sprintf("signal %d (%s)", number, name)
	}
	return fmt.Sprintf("signal %d", number)
}
