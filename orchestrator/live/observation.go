package live

import (
	"time"

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
