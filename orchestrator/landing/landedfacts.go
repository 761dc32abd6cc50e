package landing

import (
	"context"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// looker looks what a branch has of all that ever landed in it.
type looker struct {
	*ledger
	m    worktree.Manager
	dir  string            // whose attributes count when files are merged
	refs map[string]string // of landings

	facts    []landingFacts
	patterns []string // of these refs
}

// lookAtLanded gathers all landings of a branch, of whichever session and agent, and decides how each stands to the tip. What the
// files of the tip have is only looked at for the agents with one of the turn sessions given.
func lookAtLanded(ctx context.Context, m worktree.Manager, sessions []*session.Session, t target, turnSessions ...string) (_ *ledger, err error) {
	l := looker{ledger: &ledger{target: t.branch, tip: t.tip, lives: lives{}, files: turnSessions}, m: m, dir: t.place(m)}
	l.lookAtRecords(sessions)
	l.patterns = []string{turn.LandedPattern}
	if slices.ContainsFunc(sessions, func(s *session.Session) bool { return s.Host != "" }) {
		l.patterns = append(l.patterns, turn.FarLandedPattern)
	}
	l.refs = map[string]string{}
	for _, pattern := range l.patterns {
		found, err := m.Refs().Matching(ctx, strings.TrimSuffix(pattern, "after")+"*")
		if err != nil {
			return nil, err
		}
		maps.Copy(l.refs, found)
	}
	if l.past, err = leftTips(m, t); err != nil {
		return nil, err
	}
	starts, err := leftStarts(ctx, m, t, sessions)
	l.past = append(l.past, starts...)
	if err != nil || len(l.all)+len(l.refs) == 0 {
		return l.ledger, err
	}
	if l.facts, err = l.lookAtHistory(ctx, sessions, t.usual); err != nil {
		return nil, err
	}
	for _, turnSession := range turnSessions {
		if err := l.lookAtFiles(ctx, turnSession, l.facts); err != nil {
			return nil, err
		}
	}
	for i := range l.all {
		l.all[i].tip = l.tip
		if err := l.decide(ctx, i); err != nil {
			return nil, err
		}
	}
	l.onlyWhole()
	l.looker = &l
	return l.ledger, nil
}

// decide decides how a landing stands.
func (l *looker) decide(ctx context.Context, i int) (err error) {
	one := &l.all[i]
	one.Standing = l.facts[i].standing()
	if one.ByFiles = one.Standing == Rewritten && one.Commit == ""; one.Standing == Reverted {
		one.Revert, err = l.revertOf(ctx, one)
	}
	return err
}

// lookFurther looks what the files of the tip have of the landings of one more agent that its history has.
func (l *looker) lookFurther(ctx context.Context, turnSession string) error {
	if slices.Contains(l.files, turnSession) {
		return nil
	}
	l.files = append(l.files, turnSession)
	if err := l.lookAtFiles(ctx, turnSession, l.facts); err != nil {
		return err
	}
	for i := range l.all {
		if one := &l.all[i]; one.TurnSession == turnSession && one.Commit != "" {
			if err := l.decide(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// onlyWhole takes landings for dropped that only files tell of, where the branch does not have an earlier one that they stood on, or has one in its
// history whose work they brought again: to have all of their files is no more than a likeness then.
func (l *looker) onlyWhole() {
	for i := range l.all {
		one := &l.all[i]
		if !one.ByFiles {
			continue
		}
		line := l.lives.line(one.point())
		if slices.ContainsFunc(l.all, func(earlier Stand) bool {
			if earlier.TurnSession != one.TurnSession || earlier.ID >= one.ID || earlier.offered() || !slices.Contains(line, earlier.point()) {
				return false
			}
			if slices.Contains(one.Instead, earlier.ID) {
				return earlier.Standing == InForce
			}
			return !earlier.stands() && earlier.Standing != Elsewhere
		}) {
			one.ByFiles, one.Standing = false, Dropped
		}
	}
}

// siblings are the sessions of a repository: the given one as it is, the others as they are recorded. Shifts of their agents that a kill cut
// short are settled.
func siblings(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session) ([]*session.Session, error) {
	sessions, _, err := h.Store.ListAll()
	if err != nil {
		return nil, err
	}
	sessions = slices.DeleteFunc(sessions, func(one *session.Session) bool { return one.GitCommonDir != s.GitCommonDir || one.Name == s.Name })
	sessions = append(sessions, s)
	for _, one := range sessions {
		for i := range one.Agents {
			turns.SettleShift(ctx, m, &one.Agents[i])
		}
	}
	return sessions, nil
}

// lookAtRecords takes landings and lives from the records of sessions.
func (l *looker) lookAtRecords(sessions []*session.Session) {
	for _, one := range sessions {
		landings := map[string][]session.Landing{}
		for _, landing := range one.Landings {
			landings[landing.TurnSession] = append(landings[landing.TurnSession], landing)
			if landing.Target == l.target {
				l.all = append(l.all, Stand{Landing: landing, Session: one.Name})
			}
		}
		l.addLives(one, landings)
	}
	slices.SortStableFunc(l.all, byAge)
}

// addLives adds the lives of the agents of a session, those that were removed after they landed too.
func (l *looker) addLives(s *session.Session, landings map[string][]session.Landing) {
	for i := range s.Agents {
		w := &s.Agents[i]
		from, fromSession := originOf(s, w.From)
		life := lifeOf(w.TurnSession, lastTurn(landings[w.TurnSession], w.TurnHighWater), landings[w.TurnSession], w.Shifts, from, fromSession)
		life.branch = w.Branch
		life.start = w.Start()
		l.lives[w.TurnSession] = life
	}
	for i := range s.Agents {
		if w := &s.Agents[i]; w.From != nil && w.From.Within {
			if from := s.Agent(w.From.Agent); from != nil {
				l.lives.startWithin(w.TurnSession, from.TurnSession, w.From)
			}
		}
	}
	for turnSession, own := range landings {
		if _, known := l.lives[turnSession]; !known {
			from, fromSession := originOf(s, began(own))
			life := lifeOf(turnSession, lastTurn(own, 0), own, nil, from, fromSession)
			if from != nil {
				life.start = from.Snapshot
			}
			l.lives[turnSession] = life
		}
	}
}

// lastTurn is the highest number of a turn that is known of.
func lastTurn(landings []session.Landing, last int) int {
	for _, one := range landings {
		last = max(last, one.LastTurn, one.Turn)
	}
	return last
}

// lookAtHistory says of each landing whether the history of the tip has it, and adds those that only refs tell of.
func (l *looker) lookAtHistory(ctx context.Context, sessions []*session.Session, usual string) ([]landingFacts, error) {
	merged, err := l.m.Refs().ListMerged(ctx, l.tip, "", l.patterns...)
	if err != nil {
		return nil, err
	}
	l.addElsewhere(sessions, usual, merged)
	l.addUnrecorded(merged)
	facts := make([]landingFacts, len(l.all))
	for i := range l.all {
		one, f := &l.all[i], &facts[i]
		f.phase, f.elsewhere = one.Phase, one.Target != l.target
		if ref := turn.LandedRef(one.TurnSession, one.ID, "after"); l.refs[ref] == one.After {
			f.inTip = slices.Contains(merged, ref)
		} else if f.inTip, err = l.m.Objects().Contains(ctx, l.tip, one.After); err != nil {
			return nil, err
		}
		if f.inTip {
			one.Commit = one.After
		}
	}
	return facts, l.lookForRewritten(ctx, facts)
}

// addElsewhere adds the landings in other branches that were merged into this one, or that are in the branch that the session is for.
func (l *looker) addElsewhere(sessions []*session.Session, usual string, merged []string) {
	for _, s := range sessions {
		for _, one := range s.Landings {
			ref := turn.LandedRef(one.TurnSession, one.ID, "after")
			if one.Target != l.target && one.Phase == session.LandingDone && l.refs[ref] == one.After && (one.Target == usual || slices.Contains(merged, ref)) {
				l.all = append(l.all, Stand{Landing: one, Session: s.Name})
			}
		}
	}
	slices.SortStableFunc(l.all, byAge)
}

// addUnrecorded adds the landings whose session has no record any more, as far as the tip comes after them: which branch they
// landed in nobody knows.
func (l *looker) addUnrecorded(merged []string) {
	known := map[string]bool{}
	for _, one := range l.all {
		known[turn.LandedRef(one.TurnSession, one.ID, "after")] = true
	}
	for _, ref := range merged {
		turnSession, k, _, ok := turn.ParseLanded(ref)
		if _, recorded := l.lives[turnSession]; !ok || known[ref] || recorded {
			continue
		}
		l.all = append(l.all, Stand{Landing: session.Landing{
			ID: k, TurnSession: turnSession, Target: l.target, Phase: session.LandingDone, After: l.refs[ref],
			Before: l.refs[turn.LandedRef(turnSession, k, "before")], State: l.refs[turn.LandedRef(turnSession, k, "state")],
		}})
	}
	slices.SortStableFunc(l.all, byAge)
}

// leftTips are the commits that the log of a branch knows it was at and that the tip may have left behind: none where each of its
// moves went forward. Of another branch that the session is for they are all that it was at.
func leftTips(m worktree.Manager, t target) ([]string, error) {
	tips, err := m.Refs().PastTips(t.branch)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(tips, func(p worktree.PastTip) bool { return !movedForward(p.Why) }) {
		tips = nil
	}
	if t.usual != "" && t.usual != t.branch {
		usual, err := m.Refs().PastTips(t.usual)
		if err != nil {
			return nil, err
		}
		tips = append(tips, usual...)
	}
	var commits []string
	for _, tip := range slices.Backward(tips) {
		if tip.Commit != t.tip && !slices.Contains(commits, tip.Commit) && len(commits) < mostPastTips {
			commits = append(commits, tip.Commit)
		}
	}
	return commits, nil
}

// leftStarts returns the commits of a branch that agents began at, that no log of the branch tells of, and that the branch has left.
func leftStarts(ctx context.Context, m worktree.Manager, t target, sessions []*session.Session) (left []string, err error) {
	log, err := m.Refs().PastTips(t.branch)
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		for _, w := range s.Agents {
			told := func(p worktree.PastTip) bool { return p.Commit == w.BaseCommit }
			if s.Target != t.branch || s.Host != "" || !w.BaseOnTarget || w.BaseCommit == t.tip || slices.Contains(left, w.BaseCommit) || slices.ContainsFunc(log, told) {
				continue
			}
			if has, err := m.Objects().Contains(ctx, t.tip, w.BaseCommit); err != nil || !has {
				if err != nil {
					return nil, err
				}
				left = append(left, w.BaseCommit)
			}
		}
	}
	return left, nil
}

// mostPastTips bounds how many commits of the log of a branch are looked at.
const mostPastTips = 500

// movedForward reports whether the log of a branch says that a move went to a commit on top of the one before.
func movedForward(why string) bool {
	if strings.HasPrefix(why, "paw land --undo") || strings.HasPrefix(why, "paw recover") {
		return false
	}
	return slices.ContainsFunc([]string{"commit: ", "commit (initial): ", "commit (merge): ", "clone: ", "branch: Created", "paw land ", "merge "},
		func(forward string) bool { return strings.HasPrefix(why, forward) })
}

// revertOf is the commit that says it reverts a landing, "" for none.
func (l *looker) revertOf(ctx context.Context, one *Stand) (string, error) {
	commits, err := l.m.Objects().CommitsSince(ctx, l.tip, one.Commit)
	for _, c := range slices.Backward(commits) {
		if strings.Contains(c.Message, "This reverts commit "+one.Commit) {
			return c.ID, err
		}
	}
	return "", err
}
