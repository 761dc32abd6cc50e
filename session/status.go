package session

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
