package session

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// State says what an agent is doing.
type State string

// States of an agent.
const (
	StateSuspended       State = "suspended" // exists in the record only
	StateIdle            State = "idle"
	StateRunning         State = "running"
	StateWaitingInput    State = "waiting_input"
	StateWaitingChildren State = "waiting_children"
	StateCompleted       State = "completed" // done, or the CLI exited with 0
	StateError           State = "error"     // the CLI exited with another status, or its last turn failed
	StateUnknown         State = "unknown"   // facts are missing; paw never guesses a state
)

// Rests reports whether the agent's work is over for now.
func (s State) Rests() bool { return s == StateIdle || s == StateCompleted || s == StateError }

// Works reports whether the agent is in a turn, or waits in the midst of its work.
func (s State) Works() bool {
	return s == StateRunning || s == StateWaitingInput || s == StateWaitingChildren
}

// Source says which fact a state was derived from.
type Source string

// Sources of a state, the most exact first.
const (
	SourceHook       Source = "hook"
	SourceRecord     Source = "record"
	SourceTranscript Source = "transcript"
	SourceTmux       Source = "tmux"
	SourceLock       Source = "lock"
	SourceNone       Source = "none"
)

// PaneState is tmux's view of an agent's pane.
type PaneState string

// States of a pane.
const (
	PaneAlive   PaneState = "alive"
	PaneDead    PaneState = "dead" // the process has ended and tmux keeps the pane
	PaneGone    PaneState = "gone"
	PaneUnknown PaneState = "unknown"
)

// Limit is a usage limit that was reached.
type Limit struct {
	Until time.Time // end of the limit, zero if unknown
}

// Window is a period in which a subscription allows a certain usage.
type Window struct {
	Name  string    `json:"name"`
	Used  float64   `json:"used_percent"`
	Until time.Time `json:"until"` // when the next period begins
}

// nearly is the percentage from which a limit counts as near.
const nearly = 80

// Near reports whether most of the current period's allowance is used.
func (w Window) Near(now time.Time) bool { return w.Used >= nearly && now.Before(w.Until) }

// String returns the used share and the end of the period, in local time.
func (w Window) String() string {
	return fmt.Sprintf("%.0f%% of %s, resets %s", w.Used, w.Name, w.Until.Local().Format("2 Jan 15:04"))
}

// AgentStatus is the state of an agent as shown to the user.
type AgentStatus struct {
	State  State
	Since  *time.Time // start of the state, nil if unknown
	Source Source
	Reason string // "" if the state needs no explanation
	Word   string // word for people, where State and Cause do not give it: that of another machine's paw, and "turn failed"
	Cause  Cause
	// CutTurn is the number of the last turn if a crash, a stop, a limit or an error ended it
	// before the CLI was brought back, and the user has neither sent another prompt nor marked it
	// as seen; else 0.
	CutTurn int
	// Limit is the usage limit that the agent waits for, in any state; nil for none.
	Limit *Limit
	// Windows lists the current periods of the agent's subscription, as last reported by the CLI.
	Windows []Window
	// Orphan says that the CLI runs on without its pane, and must not be started a second time.
	Orphan bool
	// Away says that the CLI continues the conversation outside of its pane, which only shows it.
	Away bool
	// Elsewhere says that the CLI works outside its worktree, or has left another one there: that work is in no turn.
	Elsewhere bool
}

// stateWords are the words for states.
var stateWords = map[State]string{
	StateIdle: "idle", StateRunning: "running", StateWaitingInput: "waits for you",
	StateWaitingChildren: "waits for its children", StateCompleted: "completed", StateError: "error",
	StateSuspended: "suspended", StateUnknown: "unknown",
}

// InWords returns the word for the state that everybody shows: paw status, the desk, borders, next, wait. Interrupted
// turns, stopped or starting agents, and usage limits have words of their own.
func (st AgentStatus) InWords() string {
	switch {
	case st.Limit != nil:
		return limitWord(st)
	case st.Word != "":
		return st.Word
	case st.Cause == CauseTurnCut:
		return strings.TrimPrefix(st.Reason, "turn ")
	case st.CutTurn != 0:
		return "turn cut"
	case st.Cause == CauseStopped:
		return "stopped"
	case st.Cause == CauseClosed:
		return "closed"
	case st.Cause == CauseSetUp:
		return "setting up"
	case st.Cause == CausePrompted, st.Cause == CauseMade, st.State == StateUnknown && st.Reason == ReasonStarting:
		return "starting"
	}
	return stateWords[st.State]
}

// limitWord says until when an agent is limited, in local time, with the date if the limit was
// reached on another day.
func limitWord(st AgentStatus) string {
	until := st.Limit.Until.Local()
	switch {
	case st.Limit.Until.IsZero():
		return "limited"
	case st.Since != nil && st.Since.Local().Format(time.DateOnly) == until.Format(time.DateOnly):
		return "limited until " + until.Format("15:04")
	}
	return "limited until " + until.Format("2 Jan 15:04")
}

// LeftByInterrupt reports whether a process was ended by Ctrl-C: killed by SIGINT, or exited with
// 128 + SIGINT as programs do that catch it. A CLI that is slow to exit may be killed by a second
// Ctrl-C.
func LeftByInterrupt(exitCode, signal *int) bool {
	if signal != nil {
		return *signal == int(unix.SIGINT)
	}
	return exitCode != nil && *exitCode == 128+int(unix.SIGINT)
}

// SignalName returns the number of a signal, and its name if it has one.
func SignalName(number int) string {
	if name := unix.SignalName(unix.Signal(number)); name != "" {
		return fmt.Sprintf("signal %d (%s)", number, name)
	}
	return fmt.Sprintf("signal %d", number)
}

// Liveness is tmux's view of a session. No answer never counts as dead.
type Liveness string

// Values of Liveness.
const (
	TmuxAlive   Liveness = "alive"
	TmuxDead    Liveness = "dead"
	TmuxUnknown Liveness = "unknown" // no answer, or one that was not understood
)

// Cause says why an agent is in a state, where code depends on it. Reason is the text for people,
// which may change.
type Cause int

// Causes.
const (
	CauseOther       Cause = iota
	CauseRuns              // the CLI runs in its pane; the turn log tells what it does
	CausePrompted          // launched with a first prompt that no hook has reported yet
	CauseSilent            // launched, and no hook has reported yet
	CauseLockUnknown       // the agent's lock cannot be read
	CauseStopped           // the user stopped the agent
	CauseTurnCut           // idle since its turn was cut or interrupted
	CauseClosed            // the agent's pane was closed
	CauseDialog            // the CLI shows a dialog that can only be answered in its pane
	CauseUnrecorded        // the CLI's hooks cannot record what happens, so turns are not seen
	CauseTmuxSilent        // tmux did not answer
	CauseSetUp             // the set-up of the worktree runs in the pane
	CauseMade              // a paw makes the agent's worktree
)

// Texts of AgentStatus.Reason, and of Effective.
const (
	ReasonTmuxGone     = "its tmux session is gone"
	ReasonTmuxThere    = "its tmux session is still there"
	ReasonTmuxSilent   = "tmux did not answer"
	ReasonLockUnknown  = "its lock cannot be read"
	ReasonNoTurns      = "paw does not see its turns"
	ReasonStarting     = "starting"
	ReasonMade         = "its worktree is being made"
	ReasonSilent       = "no hook has reported yet"
	ReasonPrompted     = "its first prompt is on the way"
	ReasonForeign      = "a foreign process is in paw's pane"
	ReasonWorktreeGone = "its worktree is gone"
	ReasonHookGone     = "the paw of its hooks is gone, so no turn is recorded"
	ReasonHookOld      = "another version of paw has started it, so no turn is recorded"
	ReasonOtherMachine = "it runs on another machine, which has this home as well"
	ReasonAway         = "it left its pane and works in the background (pid %d)"
	ReasonElsewhere    = "it works in %s, not in its worktree"
	ReasonKept         = "prompts kept: %d (paw send --queued)"
	ReasonStray        = "%s is a worktree that no turn has"
	ReasonSubagents    = "its subagents work"
	ReasonBeside       = "works in several conversations"
	ReasonBranchMoved  = "its branch was moved from elsewhere"
	ReasonCutShort     = "a %s was cut short there, paw recover ends it"
	ReasonCrash        = "crash"
	ReasonReboot       = "reboot"
	ReasonClosed       = "its pane was closed"
	ReasonStopped      = "stopped"
	ReasonExited       = "exited with 0"
	ReasonOver         = "exited" // the exit status is no longer known
	ReasonLeft         = "left by Ctrl-C"
	ReasonNoExit       = "exit status unknown"
)

// Effective returns the status of a session to show: the record's, corrected by tmux. An active
// session whose tmux session is gone is stopped; a stopped one stays stopped; if tmux does not
// answer, the record counts. reason is "" when record and tmux agree.
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
