package observe

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
)

// SessionStatus is the effective status of one session and its agents.
type SessionStatus struct {
	Session   *session.Session
	Status    session.Status
	Reason    string // why the effective status differs from the record
	TmuxAlive *bool  // nil when tmux did not answer
	Agents    []AgentStatus
}

// AgentStatus is the effective state of one agent.
type AgentStatus struct {
	Record session.Agent
	session.AgentStatus
	PaneID    string // where the pane is now, "" when there is none
	PaneAlive *bool  // nil when tmux did not answer
	PID       int    // of the process that holds the agent's lock, 0 when it is free
	ExitCode  *int
	Children  []string
	Dirty     *int            // uncommitted files; nil when not counted
	Lines     *worktree.Lines // changed since its base; nil when not counted
	Forecast  *Forecast       // nil without a forecast
	Used      *cli.Spent      // by its models; nil when not counted

	TurnsCompleted int
	ToReview       int    // finished turns that the user has not seen
	CurrentTurn    int    // number of the open turn, 0 when there is none
	LastTurn       int    // number of the last turn, open or not, 0 when there was none
	Prompt         string // the last one that somebody wrote, else of the last turn in words; "" when there was none
	LastTag        string // tag of the last finished turn, of the start before that
	Branch         string // that its worktree has, "" for none
	LastCommit     string // on which the last turn ended well, "" where it did not
	WorktreeGone   bool   // no worktree of git is at its path
	Hooks          string // whether the CLI's hooks report: "seen", "silent" or "none"
}

// LockFree reports whether no process is known that holds the agent's lock.
func (a AgentStatus) LockFree() bool { return a.PID == 0 }

// StatusOf decides, from the facts alone, what is shown.
func StatusOf(h *app.App, f Facts) SessionStatus { return StatusWith(f, States(h, f)) }

// StatusWith is StatusOf where the states of the agents are known already.
func StatusWith(f Facts, states []session.AgentStatus) SessionStatus {
	s := f.Session
	st := SessionStatus{Session: s}
	st.Status, st.Reason = session.Effective(s.Status, f.Tmux)
	if f.Tmux != session.TmuxUnknown {
		alive := f.Tmux == session.TmuxAlive
		st.TmuxAlive = &alive
	} else if f.TmuxErr != nil {
		st.Reason = Silence(f.TmuxErr)
	}
	children := map[string][]string{}
	for _, w := range s.Agents {
		if w.Parent != "" {
			children[w.Parent] = append(children[w.Parent], w.Name)
		}
	}
	st.Agents = make([]AgentStatus, 0, len(f.Agents))
	for i, a := range f.Agents {
		as := AgentStatus{
			Record: a.Record, AgentStatus: states[i], Children: children[a.Record.Name], Hooks: hooksOf(a), WorktreeGone: a.Worktree.Gone,
			Branch: a.Worktree.Branch,
		}
		if last := a.Turns.Last; last != nil && last.State == turn.InProgress && f.State(a).State != session.StateSuspended {
			as.CurrentTurn = last.Number
		}
		if last := a.Turns.Last; last != nil {
			as.Prompt, as.LastTurn = cmp.Or(a.Turns.Task, last.Prompt.Words()), last.Number
			if last.State == turn.Finished {
				as.LastCommit = last.CommitHash
			}
		}
		sort.Strings(as.Children)
		if a.Lock.State == session.LockHeld {
			as.PID = a.Lock.PID()
		}
		if f.Tmux != session.TmuxUnknown {
			alive := a.Pane != nil && !a.Pane.Dead
			as.PaneAlive = &alive
		}
		if a.Pane != nil {
			as.PaneID, as.ExitCode = a.Pane.ID, a.Pane.ExitCode
		}
		st.Agents = append(st.Agents, as)
	}
	return st
}

// Silence says why nothing is known of tmux.
func Silence(err error) string {
	switch {
	case errors.Is(err, tmux.ErrTimeout):
		return "tmux did not answer in time"
	case errors.Is(err, tmux.ErrNoServer):
		return "the tmux server runs but its socket is gone"
	case errors.Is(err, tmux.ErrNotInstalled):
		return "tmux is not installed"
	case errors.Is(err, tmux.ErrTooOldServer):
		return "the running tmux server is older than the tmux client"
	}
	return err.Error()
}

// Whether the hooks of an agent's CLI report.
const (
	HooksSeen   = "seen"   // they reported in this launch
	HooksSilent = "silent" // the CLI has hooks and they have not reported yet
	HooksNone   = "none"   // the CLI has none, or does not run
)

// hooksOf reports whether the hooks of an agent report.
func hooksOf(a Agent) string {
	switch {
	case !a.Turns.Visible || a.Lock.State != session.LockHeld || RunsHeadless(a.Lock):
		return HooksNone
	case a.Turns.HooksSeen.IsZero():
		return HooksSilent
	}
	return HooksSeen
}

// WaitsFor says that an agent needs the user, with the question where it is known.
func WaitsFor(st session.AgentStatus) string {
	if st.Reason == "" {
		return "waits for your answer"
	}
	return "waits for your answer (" + st.Reason + ")"
}

// ScreenPolicy says of which agents an observation reads the screen.
type ScreenPolicy int

const (
	// NotAtScreens leaves them alone.
	NotAtScreens ScreenPolicy = iota
	// WhereUnknown looks at those of agents of which nothing else tells what they do, or what they ask, and of those that a limit has
	// stopped.
	WhereUnknown
	// WhereRunning looks at those of agents in a turn, too: a dialog may cover it of which no hook tells.
	WhereRunning
)

// wantsLook reports whether the screen of an agent could tell more of its state.
func (f Facts) wantsLook(a Agent, look ScreenPolicy) bool {
	if look == NotAtScreens || !a.Turns.Visible || RunsHeadless(a.Lock) || a.Pane == nil || a.Pane.Dead {
		return false
	}
	seen := f.Observation(a)
	if seen.Running() != live.InPane {
		return false
	}
	switch st := live.State(seen); st.State {
	case session.StateUnknown:
		return true
	case session.StateError: // it may ask what to do about the limit
		return st.Limit != nil
	case session.StateWaitingInput:
		return a.Turns.Observed.Vague
	case session.StateRunning:
		return look == WhereRunning
	default:
		return false
	}
}

// LookAtScreens takes the screens that could tell more into the facts, with one tmux client for all of one server. A
// screen that cannot be had tells nothing.
func LookAtScreens(ctx context.Context, h *app.App, all []*Facts, look ScreenPolicy) {
	wanted := map[string][]string{} // panes by socket
	clients := map[string]*session.Session{}
	for _, f := range all {
		for _, a := range f.Agents {
			if f.wantsLook(a, look) {
				wanted[f.Session.Tmux.Socket] = append(wanted[f.Session.Tmux.Socket], a.Pane.ID)
				clients[f.Session.Tmux.Socket] = f.Session
			}
		}
	}
	for socket, panes := range wanted {
		shots, _ := h.TmuxFor(clients[socket]).Screenshots(ctx, panes)
		for _, f := range all {
			for i := range f.Agents {
				a := &f.Agents[i]
				if f.Session.Tmux.Socket != socket || a.Pane == nil {
					continue
				}
				c, known := h.CLIs.Get(a.Record.CLI)
				if shot, seen := shots[a.Pane.ID]; seen && known && f.wantsLook(*a, look) {
					a.Turns.Screen = c.Screen(cli.Screenshot(shot))
				}
			}
		}
	}
}

// Forecast says how the work of one agent would land.
type Forecast struct {
	Agent     string
	Target    string   // branch that it lands on
	Commit    string   // its state
	Turn      int      // that is the end of this turn, 0 for its branch
	Files     int      // that would change in the target
	Conflicts []string // with the target
	Others    []string // agents whose work collides with this one's

	// Submodules are those that the landing would add, remove or move, which a checkout of the target cannot follow: paw
	// refuses it.
	Submodules []string

	// UncommittedSince is the turn after which files were not committed that may be there still: the branch has gone on
	// without them, so what would land is not known. 0 for none.
	UncommittedSince int

	// CutShort is the command that was killed while it moved the files of its worktree: what would land is not known. "" for none.
	CutShort string
}

// Lands reports whether there is anything to land.
func (o *Forecast) Lands() bool { return o.Files > 0 || len(o.Conflicts) > 0 }

// CollidesWith names the branch and the agents that the work collides with: "a submodule" where one keeps it from landing,
// "nothing" where it would land, "unknown" where nobody knows all of it, "" where there is nothing to land.
func (o *Forecast) CollidesWith() string {
	with := o.Others
	if len(o.Conflicts) > 0 {
		with = slices.Concat([]string{o.Target}, with)
	}
	switch {
	case len(with) > 0:
		return strings.Join(with, ", ")
	case len(o.Submodules) > 0:
		return "a submodule"
	case o.UncommittedSince > 0, o.CutShort != "":
		return "unknown"
	case !o.Lands():
		return ""
	}
	return "nothing"
}
