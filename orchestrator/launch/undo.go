package launch

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// UndoStart removes what a failed start made, unless an agent was launched; in that case hints are
// added to cause.
func UndoStart(h *app.App, s *session.Session, plans []worktree.Plan, cause error) error {
	// The user's Ctrl-C must not stop the clean-up.
	ctx := context.Background()
	if err := rollbackWorktrees(ctx, h, s, plans); err != nil {
		return errs.WithHints(cause, "paw recover "+s.Name, "paw purge "+s.Name)
	}
	known := make([]string, len(plans))
	for i, plan := range plans {
		known[i] = plan.Agent
	}
	if err := h.DeleteSession(ctx, s.Name, known, func() error { return nil }); err != nil {
		return errs.WithHints(cause, "paw purge "+s.Name)
	}
	return cause
}

// UndoAdd removes agents that never started, from the disk and from the record.
func UndoAdd(h *app.App, s *session.Session, plans []worktree.Plan, cause error) error {
	if len(plans) == 0 { // the worktree is the user's
		return errs.WithHints(cause, "paw recover "+s.Name)
	}
	draft := *s
	draft.Agents = nil
	for _, plan := range plans {
		if w := s.Agent(plan.Agent); w != nil {
			draft.Agents = append(draft.Agents, *w)
		}
	}
	ctx := context.Background()
	if err := rollbackWorktrees(ctx, h, &draft, plans); err != nil {
		return errs.WithHints(cause, "paw recover "+s.Name)
	}
	_, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, plan := range slices.Backward(plans) {
			rec.GiveBackNumber(plan.Agent)
			DropAgent(rec, plan.Agent)
		}
		return nil
	})
	if err != nil {
		return errs.WithHints(cause, "paw recover "+s.Name)
	}
	return cause
}

// DropAgent removes an agent from a record.
func DropAgent(s *session.Session, name string) {
	s.Agents = slices.DeleteFunc(s.Agents, func(w session.Agent) bool { return w.Name == name })
	for i := range s.Agents {
		// A later agent of the same name is not their parent.
		if s.Agents[i].Parent == name {
			s.Agents[i].Parent = ""
		}
	}
}

// rollbackWorktrees removes the worktrees and branches of agents that never started. It refuses
// when one of them was launched.
func rollbackWorktrees(ctx context.Context, h *app.App, s *session.Session, plans []worktree.Plan) error {
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return err
	}
	for _, a := range f.Agents {
		if a.EverLaunched(s) || a.Pane != nil {
			return fmt.Errorf("%s was started", a.Record.Name)
		}
	}
	repository, err := app.Discover(s)
	if err != nil {
		return err
	}
	var made []worktree.Made
	plans = slices.Clone(plans)
	for i, plan := range plans {
		if w := s.Agent(plan.Agent); w != nil && w.From != nil {
			plans[i].Saved = w.From.Snapshot
		}
		// Create itself has taken back what it could not complete.
		if _, err := os.Lstat(plan.Path); err == nil {
			made = append(made, worktree.Made{Agent: plan.Agent, BranchCreated: plan.CreateBranch})
		}
	}
	if err := h.Manager(repository).Rollback(ctx, plans, made); err != nil {
		return err
	}
	if err := untagStarts(ctx, h, h.Manager(repository), s); err != nil {
		return err
	}
	for _, w := range s.Agents {
		if err := WithdrawLaunches(h, s.Name, w.Name); err != nil {
			return err
		}
		h.Texts().DropPrompt(s.Name, w.Name)
		h.ForgetAgent(s.Name, w.Name)
	}
	_ = os.Remove(filepath.Join(h.Paths.LaunchDir(), s.Name)) // Remove only deletes an empty folder
	return nil
}

// missingStarts returns the owner ref and tag 0 of an agent, without those that exist. The error is
// ErrNameTaken where another session has the agent's turn session.
func missingStarts(ctx context.Context, m *worktree.Manager, s *session.Session, w *session.Agent) (map[string]string, error) {
	tagged, err := turns.Tags(ctx, m, w.TurnSession)
	if err != nil {
		return nil, err
	}
	owners, err := m.Refs().List(ctx, turn.OwnerPrefix(w.TurnSession))
	if err != nil {
		return nil, err
	}
	owner, refs := turn.OwnerRef(w.TurnSession, s.Name, s.ID), map[string]string{}
	if owners[owner] == "" {
		if len(owners)+len(tagged) > 0 {
			return nil, errs.New(errs.Usage, "%s: %w: %s", w.TurnSession, turns.ErrNameTaken, turn.TagName(w.TurnSession, 0)).Hint("paw status --all")
		}
		refs[owner] = w.BaseCommit
	}
	if len(tagged) == 0 {
		refs[turn.TagRef(w.TurnSession, 0)] = w.BaseCommit
	}
	if w.From != nil && w.From.State != "" { // kept for the agent's chain, whatever becomes of the agent that it is of
		now, err := m.Refs().Read(ctx, turn.NowRef(w.TurnSession))
		if err != nil {
			return nil, err
		}
		if now == "" {
			refs[turn.NowRef(w.TurnSession)] = w.From.State
		}
	}
	return refs, nil
}

// untagStarts deletes the refs of agents that never started: tag 0, the owner ref, and the ref of
// the work that an agent would have started from, which still exists where it came from.
func untagStarts(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session) error {
	refs := map[string]string{}
	for _, w := range s.Agents {
		own, err := turns.Own(ctx, m, s, w.Name)
		if err != nil {
			return err
		}
		tagged, err := turns.Tags(ctx, m, w.TurnSession)
		if err != nil {
			return err
		}
		if len(own) > 0 && len(tagged) <= 1 {
			made, err := m.Refs().List(ctx, turn.OwnerPrefix(w.TurnSession), turn.StartRef(w.TurnSession, ""), turn.NowRef(w.TurnSession))
			if err != nil {
				return err
			}
			maps.Copy(refs, made)
			if tagged[0] != "" {
				refs[turn.TagRef(w.TurnSession, 0)] = w.BaseCommit
			}
		}
		_ = os.Remove(h.TurnDir(s.Name, w.Name).Path) // Remove only deletes an empty folder
	}
	_ = os.Remove(filepath.Join(h.Paths.TurnsDir(), s.Name))
	return m.Refs().Delete(ctx, refs)
}
