package landing

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/app"
	"paw/worktree/objects"
)

// askerFor returns an asker for a branch, after a look at its landings.
func (w work) askerFor(ctx context.Context, t target, again bool) (*asker, error) {
	sessions, err := w.siblings(ctx)
	if err != nil {
		return nil, err
	}
	a := newAsker(w, newLedger(w.Repo, sessions, t), again)
	related := []string{w.Record.TurnSession} // the agent, the one it started from, and so on
	for _, p := range a.line {
		related = append(related, p.turnSession)
	}
	a.led.base, a.led.also = w.Record.BaseCommit, func() []string {
		head, _ := w.Repo.Refs().WorktreeHead(ctx, w.Record.WorktreePath)
		return a.needs(ctx, a.at(head, 0))
	}
	if err := a.led.look(ctx, app.Once(related)...); err != nil {
		return nil, err
	}
	return a, a.lookForHanded(ctx)
}

// sides finds what the branch and a state have in common.
func (a *asker) sides(ctx context.Context, one state) (*sides, error) {
	if !a.hasLanded() {
		return &sides{state: one.commit, ours: a.led.tip, theirs: one.commit, line: a.lineOf(one)}, nil
	}
	h, err := a.lookAtHistory(ctx, one)
	if err != nil {
		return nil, err
	}
	return a.sidesIn(ctx, h, one)
}

// sidesIn is sides with a given history.
func (a *asker) sidesIn(ctx context.Context, h *history, one state) (s *sides, err error) {
	s = &sides{h: h, state: one.commit, line: a.lineOf(one), tip: "tip for " + a.Record.Name, now: "state of " + a.Record.Name}
	h.link(h.from, s.tip, h.tip)
	h.commits[s.tip], h.commits[s.now] = h.tip, one.commit
	h.link(h.from, s.now, one.commit)
	if before := h.nearest(s.line, one.commit); before != "" {
		h.link(h.landed, s.now, before)
	}
	if a.handed != "" {
		h.link(h.landed, s.tip, a.handed)
		h.link(h.landed, s.now, a.handed)
	}
	for _, landed := range a.led.all {
		if landed.stands() {
			h.link(h.landed, s.tip, h.nodeOf(a, landed))
		}
	}
	s.left = h.leftOf(s.state)
	if err = a.linkLeft(ctx, h, s.left, s.line); err != nil {
		return nil, err
	}
	s.bases = h.common(s.tip, s.now)
	a.lookForNear(s)
	if one.at != nil {
		a.lookForRewound(h, s)
		if err := a.lookForLost(ctx, h, s); err != nil {
			return nil, err
		}
	}
	return s, a.makeSides(ctx, h, s)
}

// makeSides makes two commits whose only common ancestor is a merge of the bases. It uses tip and
// state themselves if git finds the same bases, and the tip for both if the branch has all of the
// state.
func (a *asker) makeSides(ctx context.Context, h *history, s *sides) error {
	if len(s.bases) == 0 {
		return a.unrelated()
	}
	tree := a.led.tip
	again := a.again && len(s.lost) > 0
	if again {
		var err error
		if tree, err = a.bringAgain(ctx, h, s); err != nil {
			return err
		}
	}
	s.ours, s.theirs = a.led.tip, s.state
	if !again && len(s.left) == 0 && len(s.bases) == 1 && h.commitOf(s.bases[0]) == s.state {
		s.theirs = a.led.tip
		return nil
	}
	if !again && len(s.left) == 0 && slices.Equal(s.bases, h.real.common(h.tip, s.state)) {
		return nil
	}
	base, err := a.base(ctx, s)
	if err != nil {
		return err
	}
	var both errgroup.Group
	if again || base != a.led.tip {
		both.Go(func() (err error) {
			s.ours, err = a.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: tree + "^{tree}", Parents: []string{base}, Message: "paw: " + a.led.branch + "\n", Own: true})
			return err
		})
	}
	if base != s.state {
		both.Go(func() (err error) {
			s.theirs, err = a.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: s.state + "^{tree}", Parents: []string{base}, Message: "paw: " + a.Record.Name + "\n", Own: true})
			return err
		})
	}
	return both.Wait()
}

// base returns a commit with what both sides have in common.
func (a *asker) base(ctx context.Context, s *sides) (_ string, err error) {
	if s.h == nil { // nothing has landed: the common ancestors are those of git
		if s.h, err = a.lookAtHistory(ctx, state{commit: s.state}); err != nil {
			return "", err
		}
		s.tip, s.now, s.bases = s.h.tip, s.state, s.h.common(s.h.tip, s.state)
	}
	if len(s.bases) == 0 {
		return "", a.unrelated()
	}
	return a.baseWith(ctx, s.h, s.tip, s.now, s.bases, s.left, s.line)
}

// Base returns a commit with everything that the session's target and the present state of an agent
// have in common: what the state has beyond it would land.
func Base(ctx context.Context, of app.Agent, commit string) (string, error) {
	w := work{Agent: of}
	branch, err := w.branchFor("", Options{}.lineInto(w))
	if err != nil {
		return "", err
	}
	t := target{branch: branch, usual: w.Session.Target}
	if t.tip, err = tipOf(ctx, w.Repo, branch); err != nil {
		return "", err
	}
	a, err := w.askerFor(ctx, t, false)
	if err != nil {
		return "", err
	}
	both, err := a.sides(ctx, a.at(commit, 0))
	if err != nil {
		return "", err
	}
	base, err := a.base(ctx, both)
	if err != nil {
		return "", err
	}
	if base, err = a.withHad(ctx, base, both); err != nil {
		return "", err
	}
	return a.withHanded(ctx, base)
}

// withHad returns a base with those files of the state that the tip has already in the same form,
// because they do not land.
func (a *asker) withHad(ctx context.Context, base string, s *sides) (string, error) {
	if base == a.led.tip || s.theirs == a.led.tip {
		return base, nil
	}
	merged, err := a.Repo.Objects().MergeTree(ctx, a.led.place(a.Repo), s.ours, s.theirs)
	if err != nil || len(merged.Conflicts) > 0 {
		return base, err
	}
	lands, err := a.Repo.Objects().ChangedPaths(ctx, a.led.tip, merged.Tree)
	if err != nil {
		return "", err
	}
	had, err := a.Repo.Objects().ChangedPaths(ctx, base, s.theirs)
	if err != nil {
		return "", err
	}
	if had = slices.DeleteFunc(had, func(path string) bool { return slices.Contains(lands, path) }); len(had) == 0 {
		return base, nil
	}
	tree, err := a.Repo.Objects().TreeWith(ctx, base, s.theirs, had)
	if err != nil {
		return "", err
	}
	return a.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: tree, Parents: []string{base}, Message: "paw: what both have\n", Own: true})
}

// lookForLost finds the lost work of a state. Work that the state lacks too is not lost: the agent
// has taken it out.
func (a *asker) lookForLost(ctx context.Context, h *history, s *sides) error {
	if !slices.Contains(a.led.files, a.Record.TurnSession) {
		return nil
	}
	for _, one := range a.led.all {
		work, lost, err := a.lostOf(ctx, h, s, one)
		if err != nil || !lost {
			if err != nil {
				return err
			}
			continue
		}
		gone, err := a.led.without(ctx, one, s.state, nil)
		if err != nil {
			return err
		}
		if !gone {
			s.lost = append(s.lost, work)
		}
	}
	return nil
}

// lostOf returns the work of a landing that the branch has lost. For a landing of another agent it
// is only the work of this agent that came along.
func (a *asker) lostOf(ctx context.Context, h *history, s *sides, one *Stand) (lostWork, bool, error) {
	if a.mine(one) {
		to, shared := a.led.meeting(s.line, one)
		lost := shared && a.led.lostFor(to, one) && (one.Standing == Reverted || s.had()[to])
		return lostWork{one, []string{to.String()}, a.led.lives.line(to)}, lost, nil
	}
	if one.offered() || !one.stands() {
		return lostWork{}, false, nil
	}
	along, err := a.along(h, s, one)
	if err != nil || len(along) == 0 {
		return lostWork{}, false, err
	}
	err = a.led.lookFurther(ctx, one.TurnSession)
	return lostWork{one, along, s.line}, one.Standing == Reverted && !a.broughtSince(h, one, along), err
}

// along returns the newest nodes of this agent's work that led to the state and came along with a
// landing of another agent.
func (a *asker) along(h *history, s *sides, one *Stand) ([]string, error) {
	if len(h.made) == 0 {
		if err := a.lookForMade(h, nil, true); err != nil {
			return nil, err
		}
	}
	landed, before, led := h.of(one.Commit), h.of(one.Before), h.of(s.state)
	along := map[string]bool{}
	for commit := range h.made[h.agent] {
		along[commit] = landed[commit] && led[commit] && !before[commit]
	}
	for _, p := range s.line {
		along[p.String()] = landed[p.String()] && !before[p.String()]
	}
	maps.DeleteFunc(along, func(_ string, is bool) bool { return !is })
	return h.newest(along), nil
}

// broughtSince reports whether a later landing has brought the nodes in along again.
func (a *asker) broughtSince(h *history, one *Stand, along []string) bool {
	return slices.ContainsFunc(a.led.all, func(by *Stand) bool {
		if !by.stands() || by.Standing == Reverted || by.Session != one.Session || !slices.Contains(by.Instead, one.ID) {
			return false
		}
		has := h.of(by.Commit)
		return !slices.ContainsFunc(along, func(node string) bool { return !has[node] })
	})
}

// bringAgain returns a tree of the branch into which all lost work was merged again, as it had
// landed.
func (a *asker) bringAgain(ctx context.Context, h *history, s *sides) (string, error) {
	tree := a.led.tip
	for _, one := range s.lost {
		if err := a.linkBefore(ctx, h, one.Stand); err != nil {
			return "", err
		}
		for _, to := range one.to {
			base, err := a.baseAt(ctx, h, one.Before, to, one.line)
			if err != nil {
				return "", err
			}
			if base == "" {
				return "", a.unrelated()
			}
			merged, err := a.Repo.Objects().MergeTrees(ctx, a.led.place(a.Repo), base, tree, h.commitOf(to))
			if err != nil {
				return "", err
			}
			if len(merged.Conflicts) > 0 {
				return "", a.cannotTell(landingWords(one.Stand), merged.Conflicts)
			}
			tree = merged.Tree
		}
	}
	return tree, nil
}
