package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosting"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree/objects"
)

// SessionStatus is the effective status of one session and its agents.
type SessionStatus struct {
	Session   *session.Session
	Seen      Facts // observation that the status was derived from; empty for a session of another machine
	Status    session.Status
	Reason    string // why the effective status differs from the recorded one
	TmuxAlive *bool  // nil when tmux did not answer
	Agents    []AgentStatus
}

// AgentStatus is the effective state of one agent.
type AgentStatus struct {
	Record session.Agent
	session.AgentStatus
	PaneID    string // present pane, "" for none
	PaneAlive *bool  // nil when tmux did not answer
	PID       int    // process that holds the agent's lock, 0 when the lock is free
	ExitCode  *int
	Children  []string
	Dirty     *int            // number of uncommitted files; nil when not counted
	Lines     *objects.Lines  // lines that a landing would change; nil when not counted, and with nothing to land
	Forecast  *Forecast       // nil without a forecast
	Used      *cli.Spent      // tokens and cost; nil when not counted
	Asked     bool            // the server was asked for the agent's pull request
	Pull      *hosting.Opened // nil when not asked, and without one

	TurnsCompleted int
	ToReview       int    // number of finished turns that the user has not seen
	CurrentTurn    int    // number of the open turn, 0 for none
	LastTurn       int    // number of the last turn, open or not, 0 for none
	Prompt         string // last prompt written by a person or an agent, else a description of the last turn; "" without turns
	LastTag        string // tag of the last finished turn, or of the start
	Branch         string // branch checked out in the agent's worktree, "" for none
	LastCommit     string // HEAD at the end of the last turn if that turn finished, else ""
	HookLost       string // why this paw does not get what its CLI reports
	WorktreeGone   bool   // there is no git worktree at the agent's path
	Hooks          string // HooksSeen, HooksSilent or HooksNone
}

// LockFree reports whether no process is known to hold the agent's lock.
func (a AgentStatus) LockFree() bool { return a.PID == 0 }

// StatusOf derives the shown states from the facts.
func StatusOf(h *app.App, f Facts) SessionStatus {
	s, states := f.Session, States(h, f)
	st := SessionStatus{Session: s, Seen: f}
	st.Status, st.Reason = session.Effective(s.Status, f.Tmux)
	if f.Tmux != session.TmuxUnknown {
		alive := f.Tmux == session.TmuxAlive
		st.TmuxAlive = &alive
	} else if f.TmuxErr != nil {
		st.Reason = Silence(f.TmuxErr)
	}
	if st.Status == session.StatusStopped && s.Status == session.StatusActive && slices.ContainsFunc(f.Agents, func(a Agent) bool { return a.made }) {
		st.Status, st.Reason = s.Status, "" // its tmux session comes once the worktrees are made
	}
	st.Agents = make([]AgentStatus, 0, len(f.Agents))
	for i, a := range f.Agents {
		as := AgentStatus{
			Record: a.Record, AgentStatus: states[i], Children: s.Children(a.Record.Name), Hooks: hooksOf(a), WorktreeGone: a.Worktree.Gone, HookLost: a.HookLost,
			Branch: a.Worktree.Branch,
		}
		if last := a.Turns.Last; last != nil && last.State == turn.InProgress && f.State(a).State != session.StateSuspended {
			as.CurrentTurn = last.Number
		}
		finished := a.Record.Finished
		if last := a.Turns.Last; last != nil {
			as.Prompt, as.LastTurn = cmp.Or(a.Turns.Task, last.Prompt.Words()), last.Number
			if last.State == turn.Finished {
				as.LastCommit = last.CommitHash
				finished.Add(last.Number) // its log says so before the record does
			}
		}
		as.TurnsCompleted, as.ToReview = finished.Turns, max(finished.Turns-a.Record.Seen.Turns, 0)
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

// Silence says why tmux tells nothing.
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

// Unanswered returns the error of a command that has to know what runs in a session while tmux tells nothing.
func Unanswered(s *session.Session, err error) error {
	if none := app.NoTmux(s.Name, err); none != nil {
		return none
	}
	e := errs.New(errs.Failed, "%s: %s; its panes may still run", s.Name, Silence(err))
	if line := app.AttachElsewhere(s); errors.Is(err, tmux.ErrNoServer) && line != "" {
		e.Message = fmt.Sprintf("%s: its tmux server (process %d) sees other files than this shell, which is in a container or a sandbox", s.Name, s.Tmux.ServerPID)
		return e.Hint("%s", line)
	}
	return e.Hint("paw doctor")
}

// The values of AgentStatus.Hooks.
const (
	HooksSeen   = "seen"   // the CLI's hooks have reported in this launch
	HooksSilent = "silent" // the CLI has hooks, which have not reported yet
	HooksNone   = "none"   // the CLI has no hooks, or does not run
)

func hooksOf(a Agent) string {
	switch {
	case !a.Turns.Visible || a.Lock.State != session.LockHeld || RunsHeadless(a.Lock) || SetsUp(a.Lock):
		return HooksNone
	case a.Turns.HooksSeen.IsZero():
		return HooksSilent
	}
	return HooksSeen
}

// WaitsFor says that an agent needs the user, with the question if it is known.
func WaitsFor(st session.AgentStatus) string {
	if st.Reason == "" {
		return "waits for your answer"
	}
	return "waits for your answer (" + st.Reason + ")"
}

// ScreenPolicy selects the agents whose screens an observation reads.
type ScreenPolicy int

const (
	// NotAtScreens reads no screens.
	NotAtScreens ScreenPolicy = iota
	// WhereUnknown reads the screens of agents whose state or question nothing else tells, of those
	// whose question may have been answered, and of those that a limit has stopped.
	WhereUnknown
	// WhereRunning also reads the screens of agents in a turn: a dialog that no hook reports may
	// cover the turn.
	WhereRunning
)

// wantsLook reports whether the screen of an agent could tell more about its state.
func (f Facts) wantsLook(a Agent, look ScreenPolicy) bool {
	if look == NotAtScreens || !a.Turns.Visible || SetsUp(a.Lock) || RunsHeadless(a.Lock) || a.Pane == nil || a.Pane.Dead {
		return false
	}
	seen := f.Observation(a)
	if seen.Running() != live.InPane {
		return false
	}
	switch st := live.State(seen); st.State {
	case session.StateUnknown:
		return true
	case session.StateError: // the agent's screen may ask what to do about the limit
		return st.Limit != nil
	case session.StateWaitingInput:
		return a.Turns.Observed.Vague || seen.AnswerUnseen()
	case session.StateRunning:
		return look == WhereRunning
	default:
		return false
	}
}

// LookAtScreens adds the screens that could tell more to the facts, with one tmux client per
// server. A screen that cannot be read is skipped.
func LookAtScreens(ctx context.Context, h *app.App, all []*Facts, look ScreenPolicy) {
	wanted := map[string][]string{} // pane ids by socket
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
	Target    string   // branch to land on
	Commit    string   // commit of the agent's work
	Turn      int      // turn whose end Commit is, 0 for the branch
	Files     int      // number of files that would change in the target
	Conflicts []string // files that conflict with the target
	Told      []string // Conflicts, each with what git says of names that have changed
	Others    []string // agents whose work collides with this one's

	// Lines are those that would change in the target; nil when not counted, and with nothing to land.
	Lines *objects.Lines

	// Submodules lists those that the landing would add, remove or move: a checkout of the target
	// cannot follow that, and paw refuses it.
	Submodules []string

	// LeftOut says how the agent's last turn ended if not well: paw land takes the work only by the
	// agent's name, never with --all. "" for a turn that ended well.
	LeftOut string

	// CutShort is the killed command that was moving the worktree's files, so that the result of a
	// landing is unknown; "" for none.
	CutShort string

	// Unknown says why it is not known what a landing of this agent would do, "" where it is known.
	Unknown string
}

// Lands reports whether there is anything to land.
func (o *Forecast) Lands() bool { return o.Files > 0 || len(o.Conflicts) > 0 }

// CollidesWith names the branch and the agents that the work collides with, or returns "a
// submodule" where one prevents the landing, "nothing" where the work would land, "unknown" where
// it is not known, and "" where there is nothing to land.
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
	case o.Unknown != "":
		return "unknown"
	case !o.Lands():
		return ""
	}
	return "nothing"
}
