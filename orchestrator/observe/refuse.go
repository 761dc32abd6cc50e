package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/session"
	"paw/tmux"
)

// busyStates are those in which an agent may write to its worktree.
var busyStates = []session.State{session.StateRunning, session.StateWaitingInput, session.StateWaitingChildren, session.StateUnknown}

// RefuseBusy refuses to take agents away in the middle of a turn, or when nobody
// can say whether they are in one. What does not run is in none, and a CLI that
// was just started has a moment to report. It returns the facts by which it decides.
func RefuseBusy(ctx context.Context, h *app.App, s *session.Session, agents ...string) (Facts, error) {
	for deadline := time.Now().Add(youngGrace); ; poll.Sleep(ctx, youngGrace/50) {
		f, err := Revived(ctx, h, s)
		if err != nil {
			return f, err
		}
		err = refuseStates(h, f, agents, func(a AgentStatus) bool { return a.State == session.StateUnknown && a.PID == 0 })
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) || !f.anyYoung(agents) {
			return f, err
		}
	}
}

// youngGrace is how long after its launch a CLI may take to report for the first time before nobody waits for it.
const youngGrace = 5 * time.Second

// anyYoung reports whether a CLI of these agents, one with hooks, was launched just now without a prompt and had not
// reported yet. It is asked of the same facts as the refusal: the agent may report between two looks.
func (f Facts) anyYoung(agents []string) bool {
	return slices.ContainsFunc(f.Agents, func(a Agent) bool {
		return slices.Contains(agents, a.Record.Name) && a.young(f.Now)
	})
}

// young is anyYoung of one agent.
func (a Agent) young(now time.Time) bool {
	h := a.Lock.Holder
	return a.Turns.Visible && a.Lock.State == session.LockHeld && !h.Headless && !h.Prompted &&
		now.Sub(h.At).Abs() < youngGrace && a.Turns.HooksSeen.IsZero()
}

// RefuseNotAtRest refuses an agent that may be at work, or may begin to: what it writes meanwhile
// would mix with what paw writes. It returns the facts by which it decides.
func RefuseNotAtRest(ctx context.Context, h *app.App, s *session.Session, agents ...string) (Facts, error) {
	f, err := Revived(ctx, h, s)
	if err != nil {
		return f, err
	}
	return f, refuseStates(h, f, agents, func(AgentStatus) bool { return false })
}

// refuseStates refuses agents that are or may be in a turn, but for those that harmless lets pass.
func refuseStates(h *app.App, f Facts, agents []string, harmless func(AgentStatus) bool) error {
	s := f.Session
	if err := RefuseSilent(f, agents); err != nil {
		return err
	}
	for _, a := range StatusOf(h, f).Agents {
		what := fmt.Sprintf("a turn is in progress (%s)", a.State)
		switch {
		case !slices.Contains(agents, a.Record.Name) || !slices.Contains(busyStates, a.State) || harmless(a):
			continue
		case a.State == session.StateWaitingChildren && a.PID == 0:
			continue // it does not run
		case a.State == session.StateWaitingInput:
			what = "a turn is in progress, and waits for your answer"
		case a.State == session.StateWaitingChildren:
			what = fmt.Sprintf("%s (%s)", a.Reason, a.State)
		case a.State == session.StateUnknown:
			what = fmt.Sprintf("may be in a turn (%s)", a.Reason)
		}
		refused := errs.New(errs.Refused, "%s: %s", a.Record.Name, what)
		if a.State != session.StateUnknown || a.Cause == session.CauseUnwritable {
			refused = refused.Hint("paw attach %s %s", s.Name, a.Record.Name)
		}
		return refused.Hint("paw stop %s %s", s.Name, a.Record.Name)
	}
	return nil
}

// RefuseGone refuses agents whose worktree is gone: one that runs has to end before recover makes it again.
func RefuseGone(f Facts, agents ...string) error {
	s := f.Session
	for _, a := range f.Agents {
		if !a.Worktree.Gone || !slices.Contains(agents, a.Record.Name) {
			continue
		}
		refused := errs.New(errs.Refused, "%s: %s", a.Record.Name, session.ReasonWorktreeGone)
		if a.Lock.State == session.LockFree {
			return refused.Hint("paw recover %s", s.Name)
		}
		return refused.Hint("paw stop %s %s --only && paw recover %s", s.Name, a.Record.Name, s.Name)
	}
	return nil
}

// RefuseSilent refuses agents that run while tmux says nothing of them: they could
// not be ended now, and must not be ended later, when nobody thinks of it any more.
func RefuseSilent(f Facts, agents []string) error {
	for _, a := range f.Agents {
		if f.Tmux == session.TmuxUnknown && a.Lock.State != session.LockFree && slices.Contains(agents, a.Record.Name) {
			if none := app.NoTmux(a.Record.Name, f.TmuxErr); none != nil {
				return none
			}
			return errs.New(errs.Refused, "%s: it runs, and %s", a.Record.Name, Silence(f.TmuxErr)).Hint("paw status %s", f.Session.Name)
		}
	}
	return nil
}

// RefuseUnfinished refuses agents that another command has not finished with.
func RefuseUnfinished(s *session.Session, w *session.Agent) error {
	switch w.Phase {
	case session.PhaseCreating:
		return errs.New(errs.Failed, "%s: was not made completely", w.Name).Hint("paw recover %s", s.Name)
	case session.PhaseStopping:
		return errs.New(errs.Failed, "%s: is being stopped", w.Name).Hint("paw stop %s %s", s.Name, w.Name)
	case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
		return errs.New(errs.Failed, "%s: is being removed", w.Name).Hint("paw recover %s", s.Name)
	case session.PhaseLive, session.PhaseStopped, session.PhaseExited:
	}
	return nil
}

// RefuseHalfMoved refuses an agent whose worktree is neither as it was nor as it is to be, because what moved its files has not
// ended.
func RefuseHalfMoved(ctx context.Context, h *app.App, s *session.Session, agentName string) error {
	w := s.Agent(agentName)
	m, err := h.ManagerOf(ctx, s)
	if err != nil || w == nil {
		return nil //nolint:nilerr // whoever needs them says that they are not there
	}
	return app.Unmoved(m.Journals().Settled(ctx, w.WorktreePath), agentName, "paw recover "+s.Name)
}

// RefuseRunning refuses an agent whose CLI runs or is about to, with its pid.
func RefuseRunning(h *app.App, s *session.Session, f Facts, a Agent) error {
	name := a.Record.Name
	switch f.Running(a) {
	case live.Headless:
		return errs.New(errs.Locked, "%s: a headless turn runs (pid %d)", name, holderPID(a.Lock)).Hint("paw turns %s %s", s.Name, name)
	case live.Paneless:
		return errs.New(errs.Locked, "%s: its CLI runs (pid %d), and has no pane", name, holderPID(a.Lock)).Hint("paw stop %s %s", s.Name, name)
	case live.InPane, live.RunningUnseen:
		return errs.New(errs.Locked, "%s: its CLI runs (pid %d)", name, holderPID(a.Lock)).
			Hint("paw send %s/%s", s.Name, name).Hint("paw stop %s %s", s.Name, name)
	case live.Starting, live.Foreign:
		return errs.New(errs.Locked, "%s: its pane runs pid %d", name, a.Pane.PID).Hint("paw attach %s %s", s.Name, name)
	case live.Unseen:
		// tmux is not needed here; but one that does not answer may hold a launcher
		// that is about to take the lock.
		if !errors.Is(f.TmuxErr, tmux.ErrNotInstalled) && anyLaunchOpen(h, s.Name, name) {
			return errs.New(errs.Locked, "%s: may be starting; %s", name, Silence(f.TmuxErr)).Hint("paw status %s", s.Name)
		}
	case live.NothingRuns, live.LockUnreadable:
	}
	return nil
}

// Withdrawn says why an agent must not be started any more although start or
// recover set out to: a stop or a remove came in between, of itself or of the
// parent that is just spawning it, "" for none. It is "" when the agent may start.
func Withdrawn(s *session.Session, agentName, parent string) string {
	if reason := withdrawal(s, agentName); reason != "" {
		return "it " + reason
	}
	if parent != "" {
		if reason := withdrawal(s, parent); reason != "" {
			return parent + " " + reason
		}
	}
	if s.Status == session.StatusStopped {
		return "the session was stopped in the meantime"
	}
	return ""
}

// withdrawal is what keeps one agent from being started, "" for nothing.
func withdrawal(s *session.Session, agentName string) string {
	w := s.Agent(agentName)
	if w == nil {
		return "was removed in the meantime"
	}
	switch w.Phase {
	case session.PhaseStopping, session.PhaseStopped:
		return "was stopped in the meantime"
	case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
		return "is being removed"
	case session.PhaseCreating, session.PhaseLive, session.PhaseExited:
	}
	return ""
}
