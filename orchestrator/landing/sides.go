package landing

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/app"
	"paw/session"
	"paw/worktree"
)

// sides are a branch and a state of an agent as two commits whose merge brings exactly what the one has beyond the other.
type sides struct {
	ours   string // the tip, as a commit that comes after what both have
	theirs string // the state, as a commit that comes after what both have
	state  string // as it was taken

	line     []point    // that led to the state
	h        *history   // nil where nothing has ever landed and the branch has left nothing: git's own is all there is
	tip      string     // node of the branch, with all that it has or had
	now      string     // node of the state
	bases    []string   // nodes that both have, and nothing that both have came from
	left     []string   // newest commits that the agent got from the branch and that the branch has left
	near     *Stand     // the landing that has the most of what came before the state, nil for none
	lost     []lostWork // what landed of it and what the branch has lost
	rewound  []*Stand   // landings of work that the agent was rewound from, and that it has landed nothing after
	askedFor bool       // that the lost work lands with the rest
}

// had are the states that led to this one and that the branch has: all that led to one that it has, too.
func (s *sides) had() map[point]bool {
	had := map[point]bool{}
	if s.h == nil {
		return had
	}
	tip, older := s.h.of(s.tip), false
	for _, p := range s.line {
		older = older || tip[p.String()]
		had[p] = older
	}
	return had
}

// asker is who asks for sides.
type asker struct {
	work
	led *ledger
	t   target

	again  bool    // with what was reverted
	region *region // that was looked at before, nil for none
	line   []point
	handed string // of what the user had not committed and the agent began with, what the branch has had since; "" for nothing
}

// newAsker asks of a branch that was looked at.
func newAsker(w work, led *ledger, t target, again bool) *asker {
	return &asker{work: w, led: led, t: t, again: again, line: led.lives.line(led.lives[w.agent.TurnSession].now)}
}

// ancestry are the turn sessions of the agent, of the one that it started from, and so on.
func (w work) ancestry(sessions []*session.Session) []string {
	l := looker{ledger: &ledger{lives: lives{}}}
	l.lookAtRecords(sessions)
	var all []string
	for _, p := range l.lives.line(l.lives[w.agent.TurnSession].now) {
		all = append(all, p.turnSession)
	}
	return uniq(append(all, w.agent.TurnSession))
}

// mine reports whether a landing was one of the agent, or of one whose work it goes on with.
func (a *asker) mine(one *Stand) bool {
	return one.TurnSession == a.agent.TurnSession || slices.Contains(a.line, one.point())
}

// askerFor looks at what has landed in a branch, with the files of one agent's landings.
func (w work) askerFor(ctx context.Context, t target, again bool) (*asker, error) {
	sessions, err := siblings(ctx, w.home, w.m, w.session)
	if err != nil {
		return nil, err
	}
	led, err := lookAtLanded(ctx, w.m, sessions, t, w.ancestry(sessions)...)
	if err != nil {
		return nil, err
	}
	a := newAsker(w, led, t, again)
	return a, a.lookForHanded(ctx)
}

// point is where a state stands in the life of the agent: the end of a turn, or with 0 what came before the state of the moment.
func (a *asker) point(turn int) point {
	if turn > 0 {
		return point{turnSession: a.agent.TurnSession, turn: turn}
	}
	return a.led.lives[a.agent.TurnSession].now
}

// sides finds what a branch and a state have in common.
func (a *asker) sides(ctx context.Context, one state) (*sides, error) {
	if len(a.led.all)+len(a.led.past) == 0 && a.handed == "" {
		return &sides{state: one.commit, ours: a.t.tip, theirs: one.commit, line: a.lineOf(one)}, nil
	}
	h, err := a.lookAtHistory(ctx, one)
	if err != nil {
		return nil, err
	}
	return a.sidesIn(ctx, h, one)
}

// lineOf returns the states that led to one.
func (a *asker) lineOf(one state) []point {
	if one.at == nil {
		return nil
	}
	return a.led.lives.line(*one.at)
}

// sidesIn is sides in a history that was looked at.
func (a *asker) sidesIn(ctx context.Context, h *history, one state) (s *sides, err error) {
	s = &sides{h: h, state: one.commit, line: a.lineOf(one), tip: a.tipNode(), now: "state of " + a.agent.Name}
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
	for i := range a.led.all {
		if landed := &a.led.all[i]; landed.stands() {
			h.link(h.landed, s.tip, h.nodeOf(a, landed))
		}
	}
	s.left = h.leftOf(s.state)
	if err = a.linkLeft(ctx, h, s.left, s.line); err != nil {
		return nil, err
	}
	s.bases = h.common(s.tip, s.now)
	a.lookForNear(h, s)
	if one.at != nil {
		a.lookForRewound(h, s)
		if err := a.lookForLost(ctx, h, s); err != nil {
			return nil, err
		}
	}
	return s, a.makeSides(ctx, h, s)
}

// tipNode is the name of the branch with all that has landed in it.
func (a *asker) tipNode() string { return "tip for " + a.agent.Name }

// lookForNear finds the landing that stands and that has the most of what came before the state.
func (a *asker) lookForNear(h *history, s *sides) {
	near := len(s.line)
	for i := range a.led.all {
		one := &a.led.all[i]
		met, found := meeting(s.line, a.led.lives.line(one.point()))
		if at := slices.Index(s.line, met); one.stands() && found && (at < near || at == near && s.near != nil && one.ID > s.near.ID) {
			near, s.near = at, one
		}
	}
}

// makeSides makes commits that have nothing in common but the bases. They are the tip and the state themselves where git finds the same, and
// both the tip where the branch has all of the state.
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
			s.ours, err = a.m.Objects().Commit(ctx, worktree.NewCommit{Tree: tree + "^{tree}", Parents: []string{base}, Message: "paw: " + a.t.branch + "\n", Own: true})
			return err
		})
	}
	if base != s.state {
		both.Go(func() (err error) {
			s.theirs, err = a.m.Objects().Commit(ctx, worktree.NewCommit{Tree: s.state + "^{tree}", Parents: []string{base}, Message: "paw: " + a.agent.Name + "\n", Own: true})
			return err
		})
	}
	return both.Wait()
}

// base is a commit with what both sides have.
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

// lookAtBases asks git what a branch and a state have in common where nothing has landed.
func (a *asker) lookAtBases(ctx context.Context, s *sides) (err error) {
	if s.h, err = a.lookAtHistory(ctx, state{commit: s.state}); err == nil {
		s.tip, s.now, s.bases = s.h.tip, s.state, s.h.common(s.h.tip, s.state)
	}
	return err
}

// Base is a commit with all that the branch of a landing and a state of an agent have in common: what the state has beyond it is what
// would land. turn is that at whose end the state was taken, 0 for a state of the moment; into is the branch, "" for the target of the
// session.
func Base(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, agentName, commit string, turn int, into string) (string, error) {
	w := work{home: h, m: m, session: s}
	var err error
	if w.agent, err = app.AgentNamed(s, agentName); err != nil {
		return "", err
	}
	return w.baseFor(ctx, commit, turn, into)
}

func (w work) baseFor(ctx context.Context, commit string, turn int, into string) (string, error) {
	branch, err := w.branchFor(into)
	if err != nil {
		return "", err
	}
	t := target{branch: branch, usual: w.session.Target}
	if t.tip, err = tipOf(ctx, w.m, branch); err != nil {
		return "", err
	}
	a, err := w.askerFor(ctx, t, false)
	if err != nil {
		return "", err
	}
	at := a.point(turn)
	both, err := a.sides(ctx, state{commit, &at})
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

// withHad is a base with those files as the state has them that the tip has so already, by whichever way: they do not land.
func (a *asker) withHad(ctx context.Context, base string, s *sides) (string, error) {
	if base == a.t.tip || s.theirs == a.t.tip {
		return base, nil
	}
	merged, err := a.m.Objects().MergeTree(ctx, a.t.place(a.m), s.ours, s.theirs)
	if err != nil || len(merged.Conflicts) > 0 {
		return base, err
	}
	lands, err := a.m.Objects().ChangedPaths(ctx, a.t.tip, merged.Tree)
	if err != nil {
		return "", err
	}
	had, err := a.m.Objects().ChangedPaths(ctx, base, s.theirs)
	if err != nil {
		return "", err
	}
	if had = slices.DeleteFunc(had, func(path string) bool { return slices.Contains(lands, path) }); len(had) == 0 {
		return base, nil
	}
	tree, err := a.m.Objects().TreeWith(ctx, base, s.theirs, had)
	if err != nil {
		return "", err
	}
	return a.m.Objects().Commit(ctx, worktree.NewCommit{Tree: tree, Parents: []string{base}, Message: "paw: what both have\n", Own: true})
}

// Standings are all landings of a session in order of their numbers, with how each stands to the branch that it was for. A branch that is
// gone has none of them.
func Standings(ctx context.Context, h *app.App, s *session.Session) ([]Stand, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	sessions, err := siblings(ctx, h, m, s)
	if err != nil {
		return nil, err
	}
	var agents, branches []string
	for _, l := range s.Landings {
		agents, branches = append(agents, l.TurnSession), append(branches, l.Target)
	}
	var all []Stand
	for _, branch := range uniq(branches) {
		tip, err := m.Refs().BranchTip(ctx, branch)
		if err != nil {
			return nil, err
		}
		if tip == "" {
			for _, l := range s.Landings {
				if l.Target == branch {
					all = append(all, Stand{Landing: l, Session: s.Name, Standing: landingFacts{phase: l.Phase}.standing()})
				}
			}
			continue
		}
		led, err := lookAtLanded(ctx, m, sessions, target{branch: branch, tip: tip}, uniq(agents)...)
		if err != nil {
			return nil, err
		}
		for _, one := range led.all {
			if one.Session == s.Name && one.Target == branch {
				all = append(all, one)
			}
		}
	}
	slices.SortFunc(all, func(a, b Stand) int { return a.ID - b.ID })
	return all, nil
}

// uniq are the words of a list, each once.
func uniq(words []string) []string { return slices.Compact(slices.Sorted(slices.Values(words))) }
