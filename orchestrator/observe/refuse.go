package observe

import (
	"cmp"
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
	"paw/worktree"
	"paw/worktree/gitdir"
	"paw/worktree/snapshot"
)

// RefuseBusy refuses to take agents away in the middle of a turn, or when that is unknown. An agent
// that does not run is in no turn; a CLI that was just launched gets a moment to report. RefuseBusy
// returns the facts by which it decided.
func RefuseBusy(ctx context.Context, h *app.App, s *session.Session, agents ...string) (Facts, error) {
	for deadline := time.Now().Add(youngGrace); ; poll.Sleep(ctx, youngGrace/50) {
		f, err := revivedWithScreens(ctx, h, s)
		if err != nil {
			return f, err
		}
		err = refuseStates(h, f, agents, func(a AgentStatus) bool { return a.State == session.StateUnknown && a.PID == 0 })
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) || !f.anyYoung(agents) {
			return f, err
		}
	}
}

// revivedWithScreens is Revived with the screens of CLIs whose state nothing else tells, as paw status reads them.
func revivedWithScreens(ctx context.Context, h *app.App, s *session.Session) (Facts, error) {
	f, err := Revived(ctx, h, s)
	if err == nil {
		LookAtScreens(ctx, h, []*Facts{&f}, WhereUnknown)
	}
	return f, err
}

// youngGrace is how long after its launch RefuseBusy waits for the first report of a CLI.
const youngGrace = 5 * time.Second

// anyYoung reports whether any of these agents' CLIs, with hooks, was launched just now without a
// prompt and has not reported yet. It uses the facts of the refusal: the agent may report between
// two looks.
func (f Facts) anyYoung(agents []string) bool {
	return slices.ContainsFunc(f.Agents, func(a Agent) bool {
		h := a.Lock.Holder
		return slices.Contains(agents, a.Record.Name) && a.Turns.Visible && a.Lock.State == session.LockHeld && !h.Headless && !h.Prompted && h.SetUp == "" &&
			f.Now.Sub(h.At).Abs() < youngGrace && a.Turns.HooksSeen.IsZero()
	})
}

// RefuseNotAtRest refuses agents that are or may be in a turn: their writes would mix with paw's.
// It returns the facts by which it decided.
func RefuseNotAtRest(ctx context.Context, h *app.App, s *session.Session, agents ...string) (Facts, error) {
	f, err := revivedWithScreens(ctx, h, s)
	if err != nil {
		return f, err
	}
	return f, refuseStates(h, f, agents, func(AgentStatus) bool { return false })
}

// refuseStates refuses agents that are or may be in a turn, except those for which harmless holds.
func refuseStates(h *app.App, f Facts, agents []string, harmless func(AgentStatus) bool) error {
	s := f.Session
	if err := cmp.Or(RefuseElsewhere(f, agents), RefuseMade(f, agents), RefuseSilent(f, agents), refuseSetUps(f, agents)); err != nil {
		return err
	}
	for _, a := range StatusOf(h, f).Agents {
		what := fmt.Sprintf("a turn is in progress (%s)", a.State)
		switch {
		case !slices.Contains(agents, a.Record.Name) || !a.State.Works() && a.State != session.StateUnknown || harmless(a):
			continue
		case a.State == session.StateWaitingChildren && a.PID == 0:
			continue // the agent's CLI does not run
		case a.State == session.StateWaitingInput:
			what = "a turn is in progress, and waits for your answer"
		case a.State == session.StateWaitingChildren:
			what = fmt.Sprintf("%s (%s)", a.Reason, a.State)
		case a.State == session.StateUnknown:
			what = fmt.Sprintf("may be in a turn (%s)", a.Reason)
		}
		refused := errs.New(errs.Refused, "%s: %s", a.Record.Name, what)
		if a.State != session.StateUnknown || a.Cause == session.CauseUnrecorded {
			refused = refused.Hint("paw attach %s %s", s.Name, a.Record.Name)
		}
		return refused.Hint("paw stop %s %s", s.Name, a.Record.Name)
	}
	return nil
}

// RefuseGone refuses agents whose worktree is gone; a running one must end before recover makes the
// worktree again.
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

// RefuseSilent refuses running agents while tmux does not answer: they cannot be ended now, and
// must not be ended at some later time without the user expecting it.
func RefuseSilent(f Facts, agents []string) error {
	for _, a := range f.Agents {
		if f.Tmux == session.TmuxUnknown && a.Lock.State != session.LockFree && slices.Contains(agents, a.Record.Name) {
			if errors.Is(f.TmuxErr, context.Canceled) {
				return f.TmuxErr // the user has interrupted the question
			}
			if none := app.NoTmux(a.Record.Name, f.TmuxErr); none != nil {
				return none
			}
			return errs.New(errs.Refused, "%s: it runs, and %s", a.Record.Name, Silence(f.TmuxErr)).Hint("paw doctor")
		}
	}
	return nil
}

// refuseSetUps refuses agents whose worktree is being set up, which holds their locks as their CLIs do.
func refuseSetUps(f Facts, agents []string) error {
	for _, a := range f.Agents {
		if SetsUp(a.Lock) && slices.Contains(agents, a.Record.Name) {
			name, refused := a.Record.Name, errs.New(errs.Locked, "%s: %s", a.Record.Name, HolderWords(a.Lock))
			if !RunsHeadless(a.Lock) {
				refused = refused.Hint("paw attach %s %s", f.Session.Name, name)
			}
			return refused.Hint("paw stop %s %s", f.Session.Name, name)
		}
	}
	return nil
}

// RefuseElsewhere refuses agents that run on another machine, with the same home: this one can
// neither see nor end their processes.
func RefuseElsewhere(f Facts, agents []string) error {
	for _, a := range f.Agents {
		if f.Running(a) == live.Elsewhere && slices.Contains(agents, a.Record.Name) {
			return errs.New(errs.Locked, "%s: %s", a.Record.Name, session.ReasonOtherMachine).Hint("paw status %s", f.Session.Name)
		}
	}
	return nil
}

// RefuseMade refuses agents whose worktree another paw makes now.
func RefuseMade(f Facts, agents []string) error {
	for _, a := range f.Agents {
		if a.made && slices.Contains(agents, a.Record.Name) {
			return errs.New(errs.Locked, "%s: %s", a.Record.Name, f.State(a).Reason).Hint("paw status %s", f.Session.Name)
		}
	}
	return nil
}

// RefuseUnfinished refuses an agent that another command is still making, stopping or removing.
func RefuseUnfinished(s *session.Session, w *session.Agent) error {
	switch {
	case w.Phase == session.PhaseCreating:
		return errs.New(errs.Failed, "%s: was not made completely", w.Name).Hint("paw recover %s", s.Name)
	case w.Phase == session.PhaseStopping:
		return errs.New(errs.Failed, "%s: is being stopped", w.Name).Hint("paw stop %s %s", s.Name, w.Name)
	case w.Phase.Removal():
		return errs.New(errs.Failed, "%s: is being removed", w.Name).Hint("paw recover %s", s.Name)
	}
	return nil
}

// RefuseMovedBranch refuses an agent whose branch was moved by a git that was not in its worktree: the
// files lack what the branch has got, which looks like work that takes it back. The hint brings the
// files to the branch, keeps those that are not committed, and tells git that HEAD is there.
func RefuseMovedBranch(ctx context.Context, m *worktree.Manager, w *session.Agent) error {
	path := errs.Quote(w.WorktreePath)
	admin, err := gitdir.Linked(w.WorktreePath, m.Repository.CommonDir, "")
	head, headErr := m.Refs().WorktreeHead(ctx, w.WorktreePath)
	if err != nil || headErr != nil {
		return nil //nolint:nilerr // the caller reports a worktree that is gone, or without a commit
	}
	from := snapshot.MovedFrom(ctx, w.WorktreePath, admin, head)
	if from == "" {
		return nil
	}
	return errs.New(errs.Refused, "%s: its branch %s was moved from elsewhere", w.Name, w.Branch).
		Hint("git -C %s read-tree -m -u %s %s && git -C %s reset --quiet --soft", path, from, head, path)
}

// RefuseOtherBranch refuses an agent whose worktree is on another branch than the agent's, which a move of HEAD would move:
// that branch may be the user's. again is the command to try once more.
func RefuseOtherBranch(ctx context.Context, m *worktree.Manager, s *session.Session, w *session.Agent, again string) error {
	other, ok := errors.AsType[*gitdir.MismatchError](gitdir.Verify(w.WorktreePath, s.GitCommonDir, w.Branch))
	switch {
	case ok && other.What == "branch" && other.Got == "": // HEAD alone would move
		return nil
	case ok && other.What == "branch":
		to := errs.Quote(w.Branch)
		if tip, err := m.Refs().BranchTip(ctx, w.Branch); tip == "" && err == nil { // as when it was renamed
			to = "-c " + to
		}
		return OtherBranch(w, other.Got).Hint("git -C %s switch %s && %s", errs.Quote(w.WorktreePath), to, again)
	}
	if tip, err := m.Refs().BranchTip(ctx, w.Branch); tip != "" || err != nil {
		return err
	}
	return BranchGone(m, s, w)
}

// RefuseInMerge refuses an agent in whose worktree a merge, a rebase or the like is not finished.
func RefuseInMerge(m *worktree.Manager, w *session.Agent) error {
	begun, err := m.Unfinished(w.WorktreePath)
	if err != nil || begun == "" {
		return err
	}
	return errs.New(errs.Refused, "%s: a %s is not finished in its worktree", w.Name, begun).Hint("git -C %s status", errs.Quote(w.WorktreePath))
}

// OtherBranch says that an agent's worktree is on another branch than the agent's, "" for none.
func OtherBranch(w *session.Agent, on string) *errs.Error {
	return errs.New(errs.Refused, "%s: its worktree is on %s, and not on its branch %s", w.Name, cmp.Or(on, "no branch"), w.Branch)
}

// BranchGone says that an agent's branch is gone; the hint makes it again at the last commit of the agent's worktree.
func BranchGone(m *worktree.Manager, s *session.Session, w *session.Agent) *errs.Error {
	last, _ := m.Refs().LastHeadIn(w.WorktreePath)
	return errs.New(errs.Refused, "%s: its branch %s is gone", w.Name, w.Branch).
		Hint("git -C %s branch %s %s", errs.Quote(s.RepoPath), errs.Quote(w.Branch), cmp.Or(last, w.BaseCommit))
}

// RefuseHalfMoved refuses an agent whose worktree is half moved, because a move of its files has
// not ended.
func RefuseHalfMoved(ctx context.Context, h *app.App, s *session.Session, agentName string) error {
	w := s.Agent(agentName)
	m, err := h.ManagerOf(ctx, s)
	if err != nil || w == nil {
		return nil //nolint:nilerr // the caller reports a missing repository or agent
	}
	return app.Unmoved(m.Journals().Settled(ctx, w.WorktreePath), agentName, "paw recover "+s.Name, w.WorktreePath)
}

// RefuseRunning refuses an agent whose CLI runs or is about to, naming its pid.
func RefuseRunning(h *app.App, s *session.Session, f Facts, a Agent) error {
	name := a.Record.Name
	switch f.Running(a) {
	case live.Headless:
		return errs.New(errs.Locked, "%s: %s", name, HolderWords(a.Lock)).Hint("paw turns %s/%s", s.Name, name).Hint("paw stop %s %s", s.Name, name)
	case live.Paneless:
		return errs.New(errs.Locked, "%s: its CLI runs (pid %d), and has no pane", name, holderPID(a.Lock)).Hint("paw stop %s %s", s.Name, name)
	case live.InPane, live.RunningUnseen:
		return errs.New(errs.Locked, "%s: its CLI runs (pid %d)", name, holderPID(a.Lock)).
			Hint("paw send %s/%s", s.Name, name).Hint("paw stop %s %s", s.Name, name)
	case live.Elsewhere:
		return RefuseElsewhere(f, []string{name})
	case live.Making:
		return RefuseMade(f, []string{name})
	case live.Starting:
		return errs.New(errs.Locked, "%s: its CLI is starting", name).Hint("paw attach %s %s", s.Name, name)
	case live.Foreign:
		return errs.New(errs.Locked, "%s: its pane runs something else than its CLI (pid %d)", name, a.Pane.PID).Hint("paw attach %s %s", s.Name, name)
	case live.Unseen:
		// tmux is not needed here, but if it does not answer a launcher may be about to take the
		// lock.
		if !errors.Is(f.TmuxErr, tmux.ErrNotInstalled) && len(OpenLaunches(h, s.Name)[name]) > 0 {
			return errs.New(errs.Locked, "%s: may be starting; %s", name, Silence(f.TmuxErr)).Hint("paw status %s", s.Name)
		}
	case live.NothingRuns, live.LockUnreadable:
	}
	return nil
}
