package live

import (
	"fmt"
	"time"

	"paw/config/display"
	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
)

// Observation holds the facts observed about one agent at one moment. Running and State draw
// conclusions from them.
type Observation struct {
	Now time.Time

	// From the record of the session.
	Session session.Status
	Phase   session.Phase
	Done    *session.Done // the agent's report by paw done, nil for none
	SeenCut int           // number of the last cut turn that the user has marked as seen
	Wait    *Waiting      // children that the agent waits for, nil for none

	// From tmux.
	Tmux     session.Liveness
	Pane     session.PaneState
	ExitCode *int // exit code of a dead pane; nil when tmux does not report it
	Signal   *int // signal that killed the process of a dead pane; nil for none, or when tmux does not report it
	// Respawned means that the process in the pane is not on a terminal of the launch.
	Respawned bool
	// Closed means that the server of the launch still has the session. A missing pane was then
	// closed by somebody, since paw's panes stay when their program ends.
	Closed bool

	// From locks and processes, about the last launch.
	Lock       session.LockState
	LockError  string    // why the lock cannot be read
	HolderPID  int       // process of the launch, 0 when unknown
	Headless   bool      // a living paw runs a headless turn
	LaunchedAt time.Time // time of a launch that no launcher has read yet, else zero
	Failure    string    // why the last launcher gave up
	Made       bool      // a living paw makes the agent's worktree
	MadeBy     int       // process of that paw, 0 when unknown
	OtherBoot  bool      // the agent was last launched before the machine's last boot

	// From files.
	HookLost     string // why this paw does not get what the CLI reports
	WorktreeGone bool   // there is no git worktree at the agent's path
	BranchMoved  bool   // the branch was moved by a git that was not in the worktree
	CutShort     string // killed command that was moving the worktree's files, "" for none
	Kept         int    // prompts that wait for somebody to type them to a CLI that has had none yet
	Rewound      string // where a rewind since the last turn has put the worktree, "" for no rewind
	Turns
}

// Turns holds the facts about an agent's turns.
type Turns struct {
	Visible      bool         // the CLI has hooks or a record that report turns
	Last         *turn.Record // nil without turns
	Task         string       // last prompt that a person or an agent wrote, "" for none
	Launch       string       // PAW_LAUNCH of the running CLI
	Launched     time.Time    // launch time of the running CLI
	Prompted     bool         // the launch had a first prompt
	SetUp        string       // what the launcher does in the worktree before it becomes the CLI, "" for nothing
	HooksSeen    time.Time    // when the CLI's hooks first reported, zero if they have not
	LateHooks    bool         // the CLI's hooks report nothing before the first prompt
	SilentErrors bool         // no hook of the CLI reports a turn that failed
	Unrecorded   string       // why the CLI's hooks cannot record what happens, "" if they can
	Observed     cli.Observed // content of the CLI's own record
	Elsewhere    string       // folder outside of the agent's worktree in which the CLI works, "" for none
	Strays       []string     // worktrees in the agent's that are not paw's, after the last turn
	Writing      bool         // a process is recording an event of a turn, and began no later than soon after the end in the CLI's record
	Screen       cli.Screen   // screen of the CLI, if it was read
}

// Waiting describes an agent's wait for its children.
type Waiting struct {
	Children []string // all awaited children
	Left     []string // awaited children that have not ended
	Since    time.Time
	// Unconfirmed lists the children whose results were typed to the agent without a sign of
	// arrival.
	Unconfirmed []string
}

// open reports whether a turn of the running launch is open in the log.
func (t Turns) open() bool {
	return t.Last != nil && t.Last.State == turn.InProgress && t.Last.Launch == t.Launch
}

// inTurn reports whether a turn of any launch is open in the log.
func (t Turns) inTurn() bool { return t.Last != nil && t.Last.State == turn.InProgress }

// SeenByHook returns the observation that a hook can make of its own agent after an event of the
// last turn, from the record and the turn log only.
func SeenByHook(w *session.Agent, last *turn.Record, launch string, now time.Time) Observation {
	o := Observation{
		Now: now, Tmux: session.TmuxAlive, Pane: session.PaneAlive, Lock: session.LockHeld, Phase: w.Phase, Done: w.Done,
		Turns: Turns{Visible: true, Last: last, Launch: launch, HooksSeen: now},
	}
	if Owed(*w) {
		o.Wait = &Waiting{Children: w.Wait.Children, Left: w.Wait.Children, Since: w.Wait.Since}
	}
	return o
}

// UnseenGrace is how long after an end in the CLI's own record a hook may still be recording it,
// which knows more: the commit, the outcome, the files.
const UnseenGrace = 10 * time.Second

// EndedUnseen reports whether the CLI's own record has had the end of the open turn for that long,
// without a hook having reported it.
func (o Observation) EndedUnseen(grace time.Duration) bool {
	last := o.LastTurn(grace)
	return o.open() && last.State != turn.InProgress && o.Observed.Ended != nil
}

// LastTurn returns the last turn, closed if the CLI's own record has had its end for that long
// without a hook having reported it.
func (o Observation) LastTurn(grace time.Duration) *turn.Record {
	if !o.open() {
		return o.Last
	}
	if !o.doing().State.Rests() || o.Running() != InPane || o.Now.Sub(o.Observed.At).Abs() < grace {
		return o.Last
	}
	closed := closedAs(*o.Last, turn.ReasonInterrupted, o.Observed.At, o.Observed.Ended)
	return &closed
}

// CutTurn returns the open turn of an agent whose CLI does not run, closed as recover will close
// it; nil where no turn is open, or it may go on.
func (o Observation) CutTurn() *turn.Record {
	if o.Running() != NothingRuns || !o.inTurn() {
		return nil
	}
	closed := closedAs(*o.Last, o.CutReason(), o.Last.LastEventAt, o.Observed.Ended)
	return &closed
}

// CutReason returns why the open turn of an agent without a running CLI was cut.
func (o Observation) CutReason() turn.Reason {
	if o.pane() == session.PaneDead && session.LeftByInterrupt(o.ExitCode, o.Signal) {
		return turn.ReasonInterrupted
	}
	return turn.ReasonCrash
}

// closedAs returns an open turn as closed: with the end from the CLI's own record, else with
// reason.
func closedAs(last turn.Record, reason turn.Reason, end time.Time, ended *turn.Event) turn.Record {
	last.State, last.Reason, last.EndedAt, last.Waiting = turn.Aborted, reason, at(end), false
	if ended == nil {
		return last
	}
	last.ErrorMessage = ended.Message
	switch ended.Kind {
	case turn.KindEnd:
		last.State, last.Reason, last.ErrorMessage = turn.Finished, "", ""
		last.Outcome, last.Message = "success", display.FirstLine(ended.Message)
	case turn.KindError:
		last.Reason, last.ErrorType, last.Limit = turn.ReasonError, ended.ErrorType, ended.Limit
	default:
	}
	return last
}

// Unfinished describes a last turn that was cut or has failed, "" for any other.
func Unfinished(last *turn.Record) string {
	switch {
	case last == nil:
		return ""
	case last.Limit != nil:
		return fmt.Sprintf("turn %d reached a usage limit: %s", last.Number, display.FirstLine(last.Prompt.Words()))
	case last.Cut():
		return fmt.Sprintf("turn %d was cut: %s", last.Number, display.FirstLine(last.Prompt.Words()))
	case last.State == turn.Aborted && last.Reason == turn.ReasonError:
		return fmt.Sprintf("turn %d failed: %s", last.Number, display.FirstLine(last.ErrorMessage))
	}
	return ""
}

// badEndWidth limits the columns of a CLI's message about an error.
const badEndWidth = 72

// BadEnd says how a turn ended if not well: "turn 3 was cut by a crash"; "" for a turn that is open
// or ended well. Nobody has said that what such a turn left is whole.
func BadEnd(one turn.Record) string {
	how := "was interrupted"
	switch failed := one.Outcome == "failure" || one.Outcome == "error"; {
	case one.State == turn.Finished && failed:
		how = "ended with " + one.Outcome
	case one.State != turn.Aborted:
		return ""
	case one.Limit != nil:
		how = "reached a usage limit"
	case one.Reason == turn.ReasonError:
		how = "failed: " + display.Graphemes.Cut(display.FirstLine(one.ErrorMessage), badEndWidth)
	case one.Reason == turn.ReasonStopped:
		how = "was cut by paw stop"
	case one.Reason == turn.ReasonCrash:
		how = "was cut by a crash"
	case one.Cut():
		how = "was cut by the end of its CLI"
	}
	return fmt.Sprintf("turn %d %s", one.Number, how)
}

// Running tells whether and where the last launch of an agent runs, according to its lock and its
// pane. Every command that starts, ends or prompts an agent decides by it.
type Running int

// The combinations of lock and pane.
const (
	NothingRuns    Running = iota // the lock is free, and the pane is dead or gone
	Making                        // the lock is free, and a paw makes the worktree of the new agent
	Starting                      // the lock is free, and the launcher is starting in the pane
	Foreign                       // the lock is free, and another process runs in the pane
	InPane                        // the agent's CLI runs in its pane
	Headless                      // a paw runs a headless turn
	Paneless                      // the agent's CLI, or a process that it started, runs on without the pane
	Elsewhere                     // the lock is held by a process of another machine, which has this home as well
	RunningUnseen                 // the lock is held, and tmux does not answer
	Unseen                        // the lock is free, and tmux does not answer: a launcher may be starting
	LockUnreadable                // unknown
)

// Held reports whether a process holds the agent's lock.
func (r Running) Held() bool {
	return r == InPane || r == Headless || r == Paneless || r == Elsewhere || r == RunningUnseen
}

// Free reports whether no process holds the agent's lock.
func (r Running) Free() bool { return r != LockUnreadable && !r.Held() }

// Running decides whether and where the agent runs.
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
		case o.OtherBoot: // the lock of a process of this machine ends with the machine
			return Elsewhere
		}
		return Paneless
	case session.LockFree:
		switch {
		case o.Made && !alive:
			return Making
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

// pane returns the state of the pane: unknown where tmux does not answer, gone where there is no
// server.
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

// startGrace is how long after its launch an agent without its lock counts as starting.
const startGrace = 10 * time.Second

// young reports whether a launch that no launcher has read yet was made just now. It compares the
// magnitude, so that a clock that was set back does not keep an old launch young.
func (o Observation) young() bool {
	return !o.LaunchedAt.IsZero() && o.Now.Sub(o.LaunchedAt).Abs() < startGrace
}
