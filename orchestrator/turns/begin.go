package turns

import (
	"cmp"
	"context"

	"paw/orchestrator/app"
	"paw/worktree/states"
)

// begin returns the state that the agent began with.
func (c *Chain) begin() states.State {
	w := c.Record
	begin := states.State{Twin: w.Start(), Snapshot: w.Start(), Head: w.BaseCommit}
	if w.From != nil {
		begin.Twin = cmp.Or(w.From.State, begin.Twin)
	}
	return begin
}

// BeginThere replaces, in the record as it was read, the begin of an agent whose commits are gone, as after the history
// was rewritten or a backup was restored: the agent then began where its branch has left the target.
func BeginThere(ctx context.Context, a app.Agent) error {
	w, objects := a.Record, a.Repo.Objects()
	if from := w.From; from != nil && (from.Snapshot != "" && !objects.Has(ctx, from.Snapshot) || from.State != "" && !objects.Has(ctx, from.State)) {
		w.From = nil
	}
	if w.BaseCommit == "" || objects.Has(ctx, w.BaseCommit) {
		return nil
	}
	tip, err := a.Repo.Refs().BranchTip(ctx, w.Branch)
	if err != nil {
		return err
	}
	target, err := a.Repo.Refs().BranchTip(ctx, a.Session.Target)
	w.BaseCommit, w.From = tip, nil
	if tip == "" || target == "" || err != nil {
		return err
	}
	base, err := objects.MergeBase(ctx, tip, target)
	w.BaseCommit = cmp.Or(base, tip)
	return err
}
