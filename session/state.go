package session

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

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

// Limit is a usage limit that is reached.
type Limit struct {
	Until time.Time // when it is lifted, zero where nobody says
}

// Window is a span of time in which a subscription may take so much.
type Window struct {
	Name  string    `json:"name"`
	Used  float64   `json:"used_percent"`
	Until time.Time `json:"until"` // when it begins anew
}

// nearly is the percentage from which on a limit is near.
const nearly = 80

// Near reports whether most of a window is used that has not begun anew.
func (w Window) Near(now time.Time) bool { return w.Used >= nearly && now.Before(w.Until) }

// String says what is used of it, and when it begins anew, in the user's time.
func (w Window) String() string {
	return fmt.Sprintf("%.0f%% of %s, resets %s", w.Used, w.Name, w.Until.Local().Format("2 Jan 15:04"))
}

// AgentStatus is the state of an agent as shown.
type AgentStatus struct {
	State  State
	Since  *time.Time // nil when not known
	Source Source
	Reason string // "" when the state says it all
	Cause  Cause
	// CutTurn is the number of the last turn, which a crash, a stop, a limit or an error ended before the CLI was brought back,
	// as long as the user has neither sent another prompt nor marked it as seen; 0 for none.
	CutTurn int
	// Limit is the usage limit that the agent waits for, in whatever state that is; nil for none.
	Limit *Limit
	// Windows are those of its subscription that have not begun anew since the CLI told of them.
	Windows []Window
	// Orphan: the CLI runs on without its pane. It is never started a second time.
	Orphan bool
	// Away: the CLI has taken the conversation out of its pane, which only shows it.
	Away bool
	// Elsewhere: the CLI works in another folder than its worktree: what it does there is in no turn.
	Elsewhere bool
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

// SignalName names a signal by its number, and by its name where it has one.
func SignalName(number int) string {
	if name := unix.SignalName(unix.Signal(number)); name != "" {
		return fmt.Sprintf("signal %d (%s)", number, name)
	}
	return fmt.Sprintf("signal %d", number)
}

// Liveness is what tmux says about a session; silence is never a verdict.
type Liveness string

// What tmux may say.
const (
	TmuxAlive   Liveness = "alive"
	TmuxDead    Liveness = "dead"
	TmuxUnknown Liveness = "unknown" // no answer, or one that could not be understood
)

// Cause is why an agent is in a state, where that decides what happens. Reason says it to people, in words that may change.
type Cause int

// The causes that somebody asks for.
const (
	CauseOther       Cause = iota
	CauseRuns              // the CLI runs in its pane: what it does is for its turns to tell
	CausePrompted          // it was launched with a first prompt that no hook has reported yet
	CauseSilent            // it was launched, and no hook has reported yet
	CauseLockUnknown       // its lock cannot be read
	CauseStopped           // its user stopped it
	CauseTurnCut           // it rests since its turn was cut or interrupted
	CauseClosed            // somebody closed its pane
	CauseDialog            // a dialog of its CLI that is no question of a turn: its user alone answers that
	CauseUnwritable        // its hooks cannot write a folder of paw: its turns are not seen
)

// Reasons why the status or state shown is not simply what the record says.
const (
	ReasonTmuxGone     = "its tmux session is gone"
	ReasonTmuxThere    = "its tmux session is still there"
	ReasonTmuxSilent   = "tmux did not answer"
	ReasonLockUnknown  = "its lock cannot be read"
	ReasonNoTurns      = "paw does not see its turns"
	ReasonStarting     = "starting"
	ReasonSilent       = "no hook has reported yet"
	ReasonPrompted     = "its first prompt is on the way"
	ReasonForeign      = "a foreign process is in paw's pane"
	ReasonWorktreeGone = "its worktree is gone"
	ReasonAway         = "it left its pane and works in the background (pid %d)"
	ReasonElsewhere    = "it works in %s, not in its worktree"
	ReasonSubagents    = "its subagents work"
	ReasonBeside       = "works in several conversations"
	ReasonCutShort     = "a %s was cut short there, paw recover ends it"
	ReasonCrash        = "crash"
	ReasonReboot       = "reboot"
	ReasonClosed       = "its pane was closed"
	ReasonStopped      = "stopped"
	ReasonExited       = "exited with 0"
	ReasonOver         = "exited" // how is not known any more
	ReasonLeft         = "left by Ctrl-C"
	ReasonNoExit       = "exit status unknown"
)

// Effective is the status of a session as shown: the record, corrected by what tmux says. An active session whose tmux
// session is gone is stopped; a stopped one is stopped whatever tmux says; when tmux is silent the record counts. The
// reason is "" when record and fact agree.
func Effective(record Status, tmux Liveness) (status Status, reason string) {
	switch tmux {
	case TmuxAlive:
		if record == StatusStopped {
			return StatusStopped, ReasonTmuxThere
		}
		return record, ""
	case TmuxDead:
		if record == StatusActive {
			return StatusStopped, ReasonTmuxGone
		}
		return record, ""
	case TmuxUnknown:
	}
	return record, ReasonTmuxSilent
}
