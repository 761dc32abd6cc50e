package live

import (
	"fmt"
	"time"

	"paw/config/display"
	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
)

// Observation is what was seen of one agent at one moment. It holds facts alone; what follows from them is decided by
// Running and by State, and nowhere else.
type Observation struct {
	Now time.Time

	// What the record says of the session and of the agent.
	Session session.Status
	Phase   session.Phase
	Done    *session.Done // the agent's own word that its work is finished, nil without one
	SeenCut int           // number of the last cut turn that the user has marked as seen
	Wait    *Waiting      // the children that it waits for, nil where it waits for none

	// What tmux says.
	Tmux     session.Liveness
	Pane     session.PaneState
	ExitCode *int // of a dead pane; nil when tmux does not tell
	Signal   *int // that killed a dead pane's process; nil when none or tmux does not tell
	// Respawned: the living process of the pane is neither that of the launch nor on a terminal of it.
	Respawned bool
	// Closed: the server that the agent was launched on still has the session. A pane that is gone from it was closed by
	// somebody, since one whose program ends stays.
	Closed bool

	// What locks and processes say of the last launch.
	Lock       session.LockState
	LockError  string    // why the lock cannot be read
	HolderPID  int       // process that the launch runs as, 0 when not known
	Headless   bool      // a living paw runs a turn without a pane
	LaunchedAt time.Time // of a launch that no launcher has read yet, else zero
	Failure    string    // why the last launcher gave up
	OtherBoot  bool      // the agent was last launched before the machine's last boot

	// What files say.
	WorktreeGone bool   // no worktree of git is at the agent's path
	CutShort     string // command that moved its files and was killed, "" for none
	Turns
}

// Turns is what is known of an agent's turns, beside whether its CLI runs.
type Turns struct {
	Visible    bool         // the CLI has hooks or a record: its turns can be seen
	Last       *turn.Record // nil without turns
	Task       string       // the last prompt that a person or an agent wrote, "" for none
	Launch     string       // PAW_LAUNCH of the running CLI
	Launched   time.Time    // when the running CLI was launched
	Prompted   bool         // with a first prompt
	HooksSeen  time.Time    // when its hooks reported first, zero when they have not
	LateHooks  bool         // its hooks report nothing before the first prompt
	Unwritable string       // folder of paw that its hooks cannot write, "" where they can write all
	Observed   cli.Observed // what the CLI's own record says
	Writing    bool         // somebody writes down an event of a turn since the end that the CLI has recorded, or soon after it
	Screen     cli.Screen   // what its screen shows, where somebody looked
}

// Waiting is what an agent waits for that has started others.
type Waiting struct {
	Children []string // all that it waits for
	Left     []string // those that have not ended
	Since    time.Time
	// Unconfirmed are the children whose results were typed to the agent while no sign tells that they arrived.
	Unconfirmed []string
}

// open reports whether a turn of the running launch is open in the log.
func (t Turns) open() bool {
	return t.Last != nil && t.Last.State == turn.InProgress && t.Last.Launch == t.Launch
}

// inTurn reports whether a turn is open in the log, whichever launch began it.
func (t Turns) inTurn() bool { return t.Last != nil && t.Last.State == turn.InProgress }

// SeenByHook is the observation of an agent after an event of its last turn, as the hook of that launch can make it without
// a look at anything but the record and the turn log.
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

// UnseenGrace is how long after an end in the CLI's own record its hook may still be at work, which knows more of it: the
// commit, the outcome, the files.
const UnseenGrace = 10 * time.Second

// EndedUnseen reports whether the open turn is over by the CLI's own record, for that long, and no hook told.
func (o Observation) EndedUnseen(grace time.Duration) bool {
	last := o.LastTurn(grace)
	return o.open() && last.State != turn.InProgress && o.Observed.Ended != nil
}

// LastTurn is the last turn of an agent, closed where the CLI's own record says for that long that it is over although
// no hook told.
func (o Observation) LastTurn(grace time.Duration) *turn.Record {
	if !o.open() {
		return o.Last
	}
	status := o.doing()
	resting := status.State == session.StateIdle || status.State == session.StateError || status.State == session.StateCompleted
	if !resting || o.Running() != InPane || o.Now.Sub(o.Observed.At).Abs() < grace {
		return o.Last
	}
	closed := closedAs(*o.Last, turn.ReasonInterrupted, o.Observed.At, o.Observed.Ended)
	return &closed
}

// CutTurn is the open turn of an agent whose CLI does not run, as recover will close it. It is nil where no turn is open, or
// the open one may go on.
func (o Observation) CutTurn() *turn.Record {
	if o.Running() != NothingRuns || !o.inTurn() {
		return nil
	}
	closed := closedAs(*o.Last, o.CutReason(), o.Last.LastEventAt, o.Observed.Ended)
	return &closed
}

// CutReason is why the open turn of an agent was cut whose CLI does not run.
func (o Observation) CutReason() turn.Reason {
	if o.pane() == session.PaneDead && session.LeftByInterrupt(o.ExitCode, o.Signal) {
		return turn.ReasonInterrupted
	}
	return turn.ReasonCrash
}

// closedAs is an open turn as it was closed, by the CLI's own record where that tells of its end.
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

// Unfinished says in words that the last turn of an agent was cut or has failed, "" for any other.
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
