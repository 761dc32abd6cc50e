package landing

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/app"
	"paw/session"
	"paw/worktree/objects"
)

// askerFor returns an asker for a branch, after a look at its landings.
func (w work) askerFor(ctx context.Context, t target, again bool) (*asker, error) {
	records, err := w.allRecords()
	if err != nil {
		return nil, err
	}
	sessions := siblingsIn(ctx, w.Repo, w.Session, records)
	led, err := lookAtLanded(ctx, w.Repo, sessions, t, w.ancestry(sessions)...)
	if err != nil {
		return nil, err
	}
	a := newAsker(w, led, t, again)
	return a, a.lookForHanded(ctx)
}

// ancestry returns the turn sessions of the agent, of the agent it started from, and so on.
func (w work) ancestry(sessions []*session.Session) []string {
	l := ledger{lives: lives{}}
	l.lookAtRecords(sessions)
	var all []string
	for _, p := range l.lives.line(l.lives[w.Record.TurnSession].now) {
		all = append(all, p.turnSession)
	}
	return uniq(append(all, w.Record.TurnSession))
}

// sides finds what the branch and a state have in common.
func (a *asker) sides(ctx context.Context, one state) (*sides, error) {
	if !a.hasLanded() {
		return &sides{state: one.commit, ours: a.t.tip, theirs: one.commit, line: a.lineOf(one)}, nil
	}
	h, err := a.lookAtHistory(ctx, one)
	if err != nil {
		return nil, err
	}
	return a.sidesIn(ctx, h, one)
}

// sidesIn is sides with a given history.
func (a *asker) sidesIn(ctx context.Context, h *history, one state) (s *sides, err error) {
	s = &sides{h: h, state: one.commit, line: a.lineOf(one), tip: a.tipNode(), now: "state of " + a.Record.Name}
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
	tree := a.t.tip
	if s.askedFor = a.again && len(s.lost) > 0; s.askedFor {
		var err error
		if tree, err = a.bringAgain(ctx, h, s); err != nil {
			return err
		}
	}
	s.ours, s.theirs = a.t.tip, s.state
	if !s.askedFor && len(s.left) == 0 && len(s.bases) == 1 && h.commitOf(s.bases[0]) == s.state {
		s.theirs = a.t.tip
		return nil
	}
	if !s.askedFor && len(s.left) == 0 && slices.Equal(s.bases, h.real.common(h.tip, s.state)) {
		return nil
	}
	base, err := a.base(ctx, s)
	if err != nil {
		return err
	}
	var both errgroup.Group
	if s.askedFor || base != a.t.tip {
		both.Go(func() (err error) {
			s.ours, err = a.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: tree + "^{tree}", Parents: []string{base}, Message: "paw: " + a.t.branch + "\n", Own: true})
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
func (a *asker) base(ctx context.Context, s *sides) (string, error) {
	if s.h == nil {
		if err := a.lookAtBases(ctx, s); err != nil {
			return "", err
		}
	}
	if len(s.bases) == 0 {
		return "", a.unrelated()
	}
	return a.baseWith(ctx, s.h, s.tip, s.now, s.bases, s.left, s.line)
}

// lookAtBases asks git for the common ancestors where nothing has landed.
func (a *asker) lookAtBases(ctx context.Context, s *sides) (err error) {
	if s.h, err = a.lookAtHistory(ctx, state{commit: s.state}); err == nil {
		s.tip, s.now, s.bases = s.h.tip, s.state, s.h.common(s.h.tip, s.state)
	}
	return err
}

// Base returns a commit with everything that the target and a state of an agent have in common:
// what the state has beyond it would land. turn is the turn whose end the state is, 0 for a present
// state; into is the branch, "" for the session's target.
func Base(ctx context.Context, a app.Agent, commit string, turn int, into string) (string, error) {
	return work{Agent: a}.baseFor(ctx, commit, turn, into)
}

func (w work) baseFor(ctx context.Context, commit string, turn int, into string) (string, error) {
	branch, err := w.branchFor(into)
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
	both, err := a.sides(ctx, a.at(commit, turn))
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
	if base == a.t.tip || s.theirs == a.t.tip {
		return base, nil
	}
	merged, err := a.Repo.Objects().MergeTree(ctx, a.t.place(a.Repo), s.ours, s.theirs)
	if err != nil || len(merged.Conflicts) > 0 {
		return base, err
	}
	lands, err := a.Repo.Objects().ChangedPaths(ctx, a.t.tip, merged.Tree)
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
