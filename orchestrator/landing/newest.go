package landing

import (
	"context"
	"errors"

	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/worktree"
	"paw/worktree/objects"
)

// newestStates returns the newest known states of agents: those of their chains and, if an agent's branch
// has moved since, with the commits since then. Where an agent's state is
// refused, Err of its entry says why.
func newestStates(ctx context.Context, m *worktree.Manager, t target, agents []work) (all []Handed, err error) {
	var branches []string
	for _, w := range agents {
		branches = append(branches, w.Record.Branch)
	}
	tips, err := m.Refs().Branches(ctx, branches)
	if err != nil {
		return nil, err
	}
	chains, moved := make([]*turns.Chain, len(agents)), []string{}
	for i, w := range agents {
		if w.Session.Host != "" {
			continue
		}
		if chains[i], err = turns.ChainOf(ctx, w.Agent); err != nil {
			return nil, err
		}
		if tip := tips[w.Record.Branch]; tip != "" && tip != chains[i].Now().Head {
			moved = append(moved, tip)
		}
	}
	if len(moved) > 1 {
		if _, err := m.Objects().Trees(ctx, moved...); err != nil { // for the states that follow
			return nil, err
		}
	}
	for i, w := range agents {
		one := w.handed[w.Record.Name]
		if chains[i] != nil {
			one, err = w.newestState(ctx, t, chains[i], tips[w.Record.Branch])
			if refused, ok := errors.AsType[*errs.Error](err); ok && refused.Kind == errs.Refused {
				one.Err = refused
			} else if err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	return all, nil
}

func (w work) newestState(ctx context.Context, t target, chain *turns.Chain, tip string) (one Handed, err error) {
	now := chain.Now()
	if now.Snapshot == "" { // after a move
		if now.Snapshot, err = w.snapshotOf(ctx, now.Twin, chain.Refs); err != nil {
			return Handed{}, err
		}
	}
	if tip == "" && len(chain.Refs) == 0 {
		return Handed{}, observe.BranchGone(w.Repo, w.Session, w.Record)
	}
	one = Handed{Twin: now.Twin, State: now.Snapshot}
	if last := w.Record.TurnHighWater; chain.End(last) == now.Twin {
		one.Turn = last
	}
	if tip == "" || tip == now.Head || now.Head == "" {
		return one, nil
	}
	files := tip
	if now.Snapshot != now.Head { // what was not committed
		merged, err := w.Repo.Objects().MergeTrees(ctx, t.place(w.Repo), now.Head, now.Twin, tip)
		if err != nil {
			return one, err
		}
		if len(merged.Conflicts) == 0 {
			if files, err = w.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: merged.Tree, Parents: []string{tip}, Message: "paw: now\n", Own: true}); err != nil {
				return one, err
			}
		}
	}
	since, err := chain.Then(ctx, files, tip, turns.Present(w.Agent))
	if errors.Is(err, objects.ErrUnrelated) { // as after an amended first commit: only its worktree tells
		return Handed{Twin: now.Twin, State: tip}, nil
	}
	return Handed{Twin: since.Twin, State: tip}, err
}
