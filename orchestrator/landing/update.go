package landing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/objects"
	"paw/worktree/refs"
)

// Updated is the result of an update, or for a dry run its plan.
type Updated struct {
	Session, Agent, Branch string
	From                   string // branch that was merged
	Head                   string // new commit of the agent's branch
	Files                  int    // files that change in the worktree
	Nothing                bool   // the agent had everything
	Rescue                 string // ref of the state before
	DryRun                 bool

	was  string // commit of the agent's branch before
	log  string // line in the reflog of the agent's branch
	now  string // state of the worktree after it, in the agent's chain
	from *source
}

// Update merges a branch into the worktree of an agent at rest, by the same kind of merge as a
// landing. What the agent has not committed stays uncommitted. A conflict changes nothing; paw
// rewind --undo undoes an update.
func Update(ctx context.Context, h *app.App, s *session.Session, agentName, from string, dryRun bool) (*Updated, error) {
	w, err := workOf(ctx, h, s, agentName, "update")
	if err != nil {
		return nil, err
	}
	w.into = from
	branch, err := w.branchFor(ctx)
	if err != nil {
		return nil, err
	}
	done := &Updated{Session: s.Name, Agent: agentName, Branch: w.Record.Branch, From: branch, DryRun: dryRun}
	if dryRun {
		var drop func()
		if w.Repo, drop, err = w.Repo.WithScratch(); err != nil {
			return nil, err
		}
		defer drop()
		_, _, err := w.prepareUpdate(ctx, done)
		return done, err
	}
	turns.CloseDead(ctx, h, s, agentName)
	err = turns.Change(ctx, h.Agent(s, w.Record), func(t *turns.Recorder) error {
		goal, was, err := w.prepareUpdate(ctx, done)
		if err != nil {
			return err
		}
		if done.Nothing {
			return done.from.keep(ctx)
		}
		done.Rescue = turn.RewindRef(w.Record.TurnSession, h.Now())
		h.Step("update.prepared")
		return w.moveTo(ctx, t, done, goal, was)
	})
	if err != nil {
		return nil, err
	}
	return done, w.adopt(ctx, branch)
}

// moveTo brings the worktree to the result of an update.
func (w work) moveTo(ctx context.Context, t *turns.Recorder, done *Updated, goal, was string) error {
	last, err := t.Dir.Last()
	if err != nil {
		return err
	}
	chain, op := done.from.chain, turn.Op{Kind: turn.OpUpdate, Last: turn.NumberOf(last), Head: done.Head, After: done.now}
	if _, op.At, err = turns.Position(ctx, t.Agent, op.Last); err != nil {
		return err
	}
	op.From = op.At
	if err = chain.Keep(ctx, done.from.now); errors.Is(err, refs.ErrMoved) { // what an undo goes back to
		return errs.New(errs.Refused, "%s: has moved on meanwhile, nothing is changed", w.name()).Hint("%s", w.line())
	} else if err != nil {
		return err
	}
	moved, err := w.Repo.Moves().Rewind(ctx, w.Record.WorktreePath, goal, worktree.RewindOptions{
		Rescue: done.Rescue, From: was, Command: "paw update", Log: done.log, Session: w.Session.Name, Step: func(name string) { w.App.Step("update." + name) },
		Along: func(before string, _ bool) ([]refs.Change, error) {
			defer w.App.Step("update.intended")
			op.Files = before
			return chain.Moves(ctx, op)
		},
	})
	if err != nil {
		return app.Unmoved(err, w.Record.Name+": not updated", w.line(), w.Record.WorktreePath)
	}
	done.Rescue = moved.Ref
	w.App.Step("update.done")
	chain.Came(op)
	return nil
}

// prepareUpdate merges, and makes the commit that the worktree will become: a snapshot on top of
// the branch's new commit. was is the state before.
func (w work) prepareUpdate(ctx context.Context, done *Updated) (goal, was string, err error) {
	src, err := w.lookAtSource(ctx)
	if err != nil {
		return "", "", err
	}
	done.from = src
	tip, err := tipOf(ctx, w.Repo, done.From)
	if err != nil {
		return "", "", w.withBranchHere(ctx, err, done.From)
	}
	has, err := w.Repo.Objects().Contains(ctx, src.Head, tip)
	if err != nil {
		return "", "", err
	}
	t := target{branch: done.From, tip: tip}
	if t.checkout, err = w.Repo.Registry().CheckoutOf(ctx, done.From); err != nil { // only its attributes matter
		t.checkout = nil
	}
	whole, err := w.updates(ctx, t, src)
	if err != nil {
		return "", "", err
	}
	files := whole.Tree
	if now, err := w.Repo.Objects().TreeOf(ctx, src.State); err != nil || has && now == files {
		done.Nothing = err == nil
		return "", "", err
	}
	tree := files
	if tipTree, err := w.Repo.Objects().TreeOf(ctx, tip); err != nil {
		return "", "", err
	} else if src.State != src.Head && files != tipTree { // what the tree has beyond the tip stays uncommitted
		if tree, err = w.committed(ctx, t, src, whole); err != nil {
			return "", "", err
		}
	}
	if done.now, err = w.Repo.States().Updated(ctx, whole.Lands, w.Record.TurnSession); err != nil {
		return "", "", err
	}
	done.was = src.Head
	if done.Head, err = w.updatedHead(ctx, src.Head, tip, tree, done.From); err != nil {
		return "", "", err
	}
	if done.log = "paw update with " + done.From; done.Head == tip {
		done.log += ": Fast-forward"
	}
	if err = done.count(ctx, w, src.State, files); err != nil {
		return "", "", err
	}
	goal, err = w.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: files, Parents: []string{done.Head}, Message: "paw: " + w.Record.Name + " updated\n", Own: true})
	return goal, src.State, err
}

// updates merges what the branch has into the state of the worktree. It refuses what would not be right.
func (w work) updates(ctx context.Context, t target, src *source) (*lands, error) {
	instead, err := w.refuseClaims(ctx, t, src, "not updated")
	if err != nil {
		return nil, err
	}
	whole, err := w.landsOn(ctx, t, src.Twin, false)
	if err != nil {
		return nil, err
	}
	if err := w.refuseAhead(ctx, t, whole); err != nil {
		return nil, err
	}
	if len(whole.Conflicts) == 0 {
		return whole, nil
	}
	return nil, errs.New(errs.Conflict, "%s: nothing is changed, it conflicts with %s in %s", w.name(), t.branch, few(whole.Told(), namedPaths)).
		Hint("%s", w.outOfConflict(ctx, t, src, whole, instead))
}

// count counts the files that the update changes. It refuses one that would move a submodule, which git merge does.
func (u *Updated) count(ctx context.Context, w work, state, files string) error {
	changes, err := w.Repo.Objects().ChangesBetween(ctx, state, files)
	if at := slices.IndexFunc(changes, objects.Change.Gitlink); at >= 0 {
		in, first := "git -C "+errs.Quote(w.Record.WorktreePath), ""
		if state != u.was { // git merges over nothing that is not committed
			first = in + " add -A && " + in + " commit -q -m " + errs.Quote("work of "+w.Record.Name) + " && "
		}
		return errs.New(errs.Refused, "%s: not updated, it would add, remove or move a submodule: %s", w.name(), onOneLine(changes[at].Name)).
			Hint("%s%s merge %s", first, in, errs.Quote(u.From))
	}
	u.Files = len(changes)
	return err
}

// committed merges what is committed with the tip of the branch. Files that conflict get their
// version in the worktree.
func (w work) committed(ctx context.Context, t target, src *source, whole *lands) (string, error) {
	var merged objects.Merged
	var err error
	if len(whole.Gone) == 0 {
		merged, err = w.Repo.Objects().MergeTree(ctx, t.place(w.Repo), src.Head, t.tip)
		if errors.Is(err, objects.ErrUnrelated) { // as after an amended first commit
			merged, err = w.Repo.Objects().MergeTrees(ctx, t.place(w.Repo), w.Record.BaseCommit, src.Head, t.tip)
		}
	} else { // HEAD has commits that the branch has left: what is not committed is taken out of the result
		merged, err = w.Repo.Objects().MergeTrees(ctx, t.place(w.Repo), src.State, whole.Tree, src.Head)
	}
	if err != nil || len(merged.Conflicts) == 0 {
		return merged.Tree, err
	}
	return w.Repo.Objects().TreeWith(ctx, merged.Tree, whole.Tree, merged.Conflicts)
}

// updatedHead returns the new commit of the agent's branch: the tip of the other branch if that is
// all, else a merge.
func (w work) updatedHead(ctx context.Context, head, tip, tree, from string) (string, error) {
	tipTree, err := w.Repo.Objects().TreeOf(ctx, tip)
	if err != nil {
		return "", err
	}
	if forward, err := w.Repo.Objects().Contains(ctx, tip, head); err != nil || forward && tree == tipTree {
		return tip, err
	}
	if behind, err := w.Repo.Objects().Contains(ctx, head, tip); err != nil || behind { // the agent's branch keeps its commit unless something is taken out
		if same, err := w.Repo.Objects().TreeOf(ctx, head); err != nil || same == tree {
			return head, err
		}
	}
	return w.Repo.Objects().Commit(ctx, objects.NewCommit{
		Tree: tree, Parents: []string{head, tip}, Message: fmt.Sprintf("Merge branch '%s' into %s\n", from, w.Record.Branch),
	})
}

// String says what was merged, and how to undo that.
func (u *Updated) String() string {
	name := u.Session + "/" + u.Agent
	switch {
	case u.Nothing:
		return fmt.Sprintf("%s: up to date, it has all of %s", name, u.From)
	case u.DryRun:
		return fmt.Sprintf("bring %s into %s: %s in its worktree, its branch %s moves on", u.From, name, errs.Counted(u.Files, "file"), u.Branch)
	}
	return fmt.Sprintf("%s has %s now: %s changed in its worktree; paw rewind %s --undo takes it back",
		name, u.From, errs.Counted(u.Files, "file"), name)
}

// Behind returns the agents of a session whose branches lack the tip of the session's target.
// landed is the commit that a landing has just made, "" for none: if the tip is that commit, only
// branches at the same commit have it.
func Behind(ctx context.Context, h *app.App, s *session.Session, landed string) ([]string, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	tip, err := m.Refs().BranchTip(ctx, s.Target)
	if err != nil || tip == "" {
		return nil, err
	}
	var branches []string
	for _, w := range s.Agents {
		branches = append(branches, w.Branch)
	}
	var without []string
	if tip == landed {
		var tips map[string]string
		tips, err = m.Refs().Branches(ctx, branches)
		maps.DeleteFunc(tips, func(_, at string) bool { return at == tip })
		without = slices.Collect(maps.Keys(tips))
	} else {
		without, err = m.Refs().BranchesWithout(ctx, tip, branches)
	}
	var names []string
	for _, w := range s.Agents {
		if slices.Contains(without, w.Branch) {
			names = append(names, w.Name)
		}
	}
	return names, err
}
