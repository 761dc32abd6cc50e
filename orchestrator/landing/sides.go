package landing

import (
	"context"
	"fmt"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// sides are a branch and a state of an agent as two commits whose merge brings exactly what the one has beyond the other. What both
// have is what they were made of: the history of either, what landed, and what the agent ever got from the branch, also where the
// branch has left it since.
type sides struct {
	ours   string // the tip, as a commit that comes after bases
	theirs string // the state, as a commit that comes after bases
	state  string // the state with what landed of it before among its parents, for what lands next

	line     []point  // that led to the state
	bases    []string // what both have
	left     string   // what the agent got from the branch last, where the branch is not on that any more
	near     *Stand   // the landing that has the most of what came before the state, nil for none
	lost     []*Stand // landings of the agent that came before the state, and that the tip had and has no more
	out      []*Stand // landings whose work is taken out of what both have: it is brought again
	replaced []*Stand // landings of the agent that only the files of the tip tell of: what lands now stands for them
	rewound  []*Stand // landings of work that the agent was rewound from, and that it has landed nothing after
	common   []string // commits whose history the branch has, or had when the agent got it
	known    []string // commits whose history is nobody's new work
	past     []string // those of them that the branch has left
}

// asker is who asks for sides.
type asker struct {
	work
	led *ledger
	t   target

	again bool // with what was reverted
	line  []point
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
	sessions, err := siblings(w.home, w.session)
	if err != nil {
		return nil, err
	}
	led, err := lookAtLanded(ctx, w.m, sessions, t, w.ancestry(sessions)...)
	if err != nil {
		return nil, err
	}
	return newAsker(w, led, t, again), nil
}

// point is where a state stands in the life of the agent: the end of a turn, or with 0 what came before the state of the moment.
func (a *asker) point(turn int) point {
	if turn > 0 {
		return point{turnSession: a.agent.TurnSession, turn: turn}
	}
	return a.led.lives[a.agent.TurnSession].now
}

// sides finds what a branch and a state have in common. at is where the state stands in the life of the agent, nil for a commit that
// has nothing of it but by its history.
func (a *asker) sides(ctx context.Context, state string, at *point) (*sides, error) {
	s := &sides{state: state, theirs: state}
	inState, err := a.inHistory(ctx, state)
	if err != nil {
		return nil, err
	}
	var line []point
	if at != nil {
		line = a.led.lives.line(*at)
	}
	if s.line = line; at == nil {
		s.line = a.line
	}
	if err := a.joinNear(ctx, s, line, inState); err != nil {
		return nil, err
	}
	if s.past, err = a.past(ctx); err != nil {
		return nil, err
	}
	got, err := a.gotLast(ctx, state, s.past)
	if err != nil {
		return nil, err
	}
	if s.common, s.known = append(s.common, got), append(s.known, a.t.tip); got != a.t.tip {
		s.left = got
	}
	had, err := a.hadOf(ctx, state, s.past)
	if err != nil {
		return nil, err
	}
	s.common, s.known = append(s.common, had...), append(s.known, s.past...)
	for i := range a.led.all {
		one := &a.led.all[i]
		if one.stands() && !one.Void && !a.subtracts(s.line, one) && !inState[one.Commit] && one.State != "" {
			s.common, s.known = append(s.common, one.State), append(s.known, one.State)
		}
		if at != nil && a.rewoundFrom(line, one) && (one.stands() || inState[one.After]) {
			s.rewound = append(s.rewound, one)
		}
		if inState[one.After] && one.Commit != one.After {
			s.known = append(s.known, one.After)
		}
		if a.led.lostFor(line, one) {
			if gone, err := a.goneFrom(ctx, state, one); err != nil {
				return nil, err
			} else if !gone {
				s.lost = append(s.lost, one)
			}
		} else if one.ByFiles && slices.Contains(line, one.point()) {
			s.replaced = append(s.replaced, one)
		}
	}
	if len(s.past) > 0 {
		if s.known, err = a.m.Present(ctx, s.known); err != nil {
			return nil, err
		}
	}
	if s.bases, err = a.m.MergeBases(ctx, s.theirs, s.common...); err != nil {
		return nil, err
	}
	if s.bases, err = a.withoutLeft(ctx, s.bases, got); err != nil {
		return nil, err
	}
	if s.bases, err = a.withoutOld(ctx, s.bases, got, inState, had); err != nil {
		return nil, err
	}
	if len(s.common) == 1 && got == a.t.tip && s.theirs == state && len(a.toTakeOut(s)) == 0 { // nothing but the history of the branch
		s.ours = a.t.tip
		return s, nil
	}
	return s, a.synthesize(ctx, s)
}

// inHistory are the landings, by what they made of the branch, that a commit comes after.
func (a *asker) inHistory(ctx context.Context, commit string) (map[string]bool, error) {
	in := map[string]bool{}
	if len(a.led.all) == 0 {
		return in, nil
	}
	refs, err := a.m.MergedRefs(ctx, commit, "", turn.LandedPattern)
	if err != nil {
		return nil, err
	}
	merged := map[string]bool{}
	for _, ref := range refs {
		merged[ref] = true
	}
	for _, one := range a.led.all {
		in[one.After] = merged[turn.LandedRef(one.TurnSession, one.ID, "after")]
		if one.Commit != "" && one.Commit != one.After && !in[one.Commit] {
			if in[one.Commit], err = a.m.Contains(ctx, commit, one.Commit); err != nil {
				return nil, err
			}
		}
	}
	return in, nil
}

// joinNear makes the state come after the point of its line that a landing has and that is nearest, unless the state comes after the
// landing already.
func (a *asker) joinNear(ctx context.Context, s *sides, line []point, inState map[string]bool) error {
	near := len(line)
	for i := range a.led.all {
		one := &a.led.all[i]
		if !one.stands() || one.Void || inState[one.Commit] || a.subtracts(s.line, one) {
			continue
		}
		met, found := meeting(line, a.led.lives.line(one.point()))
		if at := slices.Index(line, met); found && (at < near || at == near && s.near != nil && one.ID > s.near.ID) {
			near, s.near = at, one
		}
	}
	if s.near == nil || a.toldSince(line[:near+1], inState) {
		return nil
	}
	commit, err := a.commitAt(ctx, line[near])
	if err != nil || commit == "" {
		return err
	}
	s.common, s.known = append(s.common, commit), append(s.known, commit)
	if commit == s.state {
		return nil
	}
	s.theirs, err = a.m.Commit(ctx, worktree.NewCommit{
		Tree: s.state + "^{tree}", Parents: []string{s.state, commit}, Message: fmt.Sprintf("paw: %s after %s\n", a.agent.Name, line[near]), Own: true,
	})
	s.state = s.theirs
	return err
}

// toldSince reports whether the state got a landing of one of these points from the branch, by an update or a merge: what the branch
// had then is newer than the point.
func (a *asker) toldSince(points []point, inState map[string]bool) bool {
	return slices.ContainsFunc(a.led.all, func(one Stand) bool {
		return one.Phase != session.LandingOffered && inState[one.After] && slices.Contains(points, one.point())
	})
}

// commitAt is the commit of a point, "" where only history tells of it.
func (a *asker) commitAt(ctx context.Context, p point) (string, error) {
	if p.landing > 0 {
		for i := range a.led.all {
			if a.led.all[i].point() == p {
				return a.led.all[i].State, nil
			}
		}
		return "", nil
	}
	if p.turn == 0 {
		return a.led.lives[p.turnSession].start, nil
	}
	snapshot, head := turn.TurnRef(p.turnSession, p.turn), turn.HeadRef(p.turnSession, p.turn)
	refs, err := a.m.Refs(ctx, snapshot, head)
	if err != nil {
		return "", err
	}
	if refs[snapshot] == "" {
		return refs[head], nil
	}
	return refs[snapshot], nil
}

// synthesize makes commits that have nothing in common but the bases, without the work that is to be brought again.
func (a *asker) synthesize(ctx context.Context, s *sides) error {
	err := a.takeOut(ctx, s)
	if err != nil || s.ours != "" {
		return err
	}
	s.ours, err = a.m.Commit(ctx, worktree.NewCommit{
		Tree: a.t.tip + "^{tree}", Parents: append([]string{a.t.tip}, s.bases...), Message: "paw: with what has landed\n", Own: true,
	})
	return err
}

// baseTree is the tree of what both sides have: of several commits, that of all of them together.
func (a *asker) baseTree(ctx context.Context, bases []string) (string, error) {
	if len(bases) == 0 {
		return "", errs.New(errs.Refused, "%s: has no history in common with %s", a.name(), a.t.branch).Hint("git log %s", errs.Quote(a.agent.Branch))
	}
	all, _, err := a.mergeAll(ctx, bases)
	if err != nil {
		return "", err
	}
	return a.m.TreeOf(ctx, all)
}

// mergeAll merges commits one after the other. clean is false where two of them conflict: the commit then has git's conflict markers.
func (a *asker) mergeAll(ctx context.Context, commits []string) (all string, clean bool, err error) {
	all, clean = commits[0], true
	for _, next := range commits[1:] {
		merged, err := a.m.MergeTree(ctx, a.t.place(a.m), all, next)
		if err != nil {
			return "", false, err
		}
		clean = clean && len(merged.Conflicts) == 0
		all, err = a.m.Commit(ctx, worktree.NewCommit{Tree: merged.Tree, Parents: []string{all, next}, Message: "paw: what both have\n", Own: true})
		if err != nil {
			return "", false, err
		}
	}
	return all, clean, nil
}

// base is a commit with what both sides have.
func (a *asker) base(ctx context.Context, s *sides) (string, error) {
	if len(s.bases) == 1 {
		return s.bases[0], nil
	}
	tree, err := a.baseTree(ctx, s.bases)
	if err != nil {
		return "", err
	}
	return a.m.Commit(ctx, worktree.NewCommit{Tree: tree, Parents: s.bases, Message: "paw: what both have\n", Own: true})
}

// Base is a commit with all that the branch of a landing and a state of an agent have in common: what the state has beyond it is what
// would land. turn is that at whose end the state was taken, 0 for a state of the moment; into is the branch, "" for the target of the
// session.
func Base(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, agentName, state string, turn int, into string) (string, error) {
	w := work{home: h, m: m, session: s}
	var err error
	if w.agent, err = app.AgentNamed(s, agentName); err != nil {
		return "", err
	}
	return w.baseOf(ctx, state, turn, into)
}

func (w work) baseOf(ctx context.Context, state string, turn int, into string) (string, error) {
	branch, err := w.branchFor(into)
	if err != nil {
		return "", err
	}
	t := target{branch: branch}
	if t.tip, err = tipOf(ctx, w.m, branch); err != nil {
		return "", err
	}
	a, err := w.askerFor(ctx, t, false)
	if err != nil {
		return "", err
	}
	at := a.point(turn)
	both, err := a.sides(ctx, state, &at)
	if err != nil {
		return "", err
	}
	base, err := a.base(ctx, both)
	if err != nil {
		return "", err
	}
	return a.withHad(ctx, base, both)
}

// withHad is a base with those files as the state has them that the tip has so already, by whichever way: they do not land.
func (a *asker) withHad(ctx context.Context, base string, s *sides) (string, error) {
	if base == a.t.tip {
		return base, nil
	}
	merged, err := a.m.MergeTree(ctx, a.t.place(a.m), s.ours, s.theirs)
	if err != nil || len(merged.Conflicts) > 0 {
		return base, err
	}
	lands, err := a.m.ChangedPaths(ctx, a.t.tip, merged.Tree)
	if err != nil {
		return "", err
	}
	had, err := a.m.ChangedPaths(ctx, base, s.theirs)
	if err != nil {
		return "", err
	}
	if had = slices.DeleteFunc(had, func(path string) bool { return slices.Contains(lands, path) }); len(had) == 0 {
		return base, nil
	}
	tree, err := a.m.TreeWith(ctx, base, s.theirs, had)
	if err != nil {
		return "", err
	}
	return a.m.Commit(ctx, worktree.NewCommit{Tree: tree, Parents: []string{base}, Message: "paw: what both have\n", Own: true})
}

// Standings are all landings of a session in order of their numbers, with how each stands to the branch that it was for. A branch that is
// gone has none of them.
func Standings(ctx context.Context, h *app.App, s *session.Session) ([]Stand, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	sessions, err := siblings(h, s)
	if err != nil {
		return nil, err
	}
	var agents, branches []string
	for _, l := range s.Landings {
		agents, branches = append(agents, l.TurnSession), append(branches, l.Target)
	}
	var all []Stand
	for _, branch := range uniq(branches) {
		tip, err := m.BranchTip(ctx, branch)
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
