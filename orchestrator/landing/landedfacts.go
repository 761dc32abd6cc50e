package landing

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/refs"
)

// lookAtLanded returns all landings of a branch, by any session and agent, with their standing at
// the tip. It compares only the landings of the given turn sessions with the tip's files.
func lookAtLanded(ctx context.Context, m *worktree.Manager, sessions []*session.Session, t target, turnSessions ...string) (*ledger, error) {
	l := newLedger(m, sessions, t)
	return l, l.look(ctx, turnSessions...)
}

// look finds out how landings stand.
func (l *ledger) look(ctx context.Context, turnSessions ...string) (err error) {
	l.files, l.refs = turnSessions, map[string]string{}
	patterns := []string{turn.LandedPattern}
	if slices.ContainsFunc(l.sessions, func(s *session.Session) bool { return s.Host != "" }) {
		patterns = append(patterns, turn.FarLandedPattern)
	}
	for _, pattern := range patterns {
		found, err := l.m.Refs().Matching(ctx, strings.TrimSuffix(pattern, "after")+"*")
		if err != nil {
			return err
		}
		maps.Copy(l.refs, found)
	}
	if l.past, err = l.leftCommits(ctx); err != nil || len(l.all)+len(l.refs)+len(l.past) == 0 {
		return err
	}
	if err = l.lookAtHistory(ctx); err != nil {
		return err
	}
	for _, turnSession := range turnSessions {
		if err := l.lookAtFiles(ctx, turnSession); err != nil {
			return err
		}
	}
	for _, one := range l.all {
		one.tip = l.tip
		if err := l.decide(ctx, one); err != nil {
			return err
		}
	}
	l.onlyWhole()
	return nil
}

// decide sets the standing of a landing.
func (l *ledger) decide(ctx context.Context, one *Stand) (err error) {
	one.Standing = one.standing()
	if one.ByFiles = one.Standing == Rewritten && one.Commit == ""; one.Standing == Reverted {
		one.Revert, err = l.revertOf(ctx, one)
	}
	return err
}

// lookFurther compares the landings of one more turn session with the tip's files.
func (l *ledger) lookFurther(ctx context.Context, turnSession string) error {
	if slices.Contains(l.files, turnSession) {
		return nil
	}
	l.files = append(l.files, turnSession)
	if err := l.lookAtFiles(ctx, turnSession); err != nil {
		return err
	}
	for _, one := range l.of(turnSession) {
		if one.Commit != "" {
			if err := l.decide(ctx, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// onlyWhole drops landings that were found in the branch by their files alone where that is a
// coincidence: the branch lacks an earlier landing whose work such a landing builds on, or still has
// in its history the earlier landing whose work it only brought again.
func (l *ledger) onlyWhole() {
	for _, one := range l.all {
		if !one.ByFiles {
			continue
		}
		line := l.lives.line(one.point())
		if slices.ContainsFunc(l.of(one.TurnSession), func(earlier *Stand) bool {
			if earlier.ID >= one.ID || earlier.offered() || !slices.Contains(line, earlier.point()) {
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

// lookAtHistory finds out which landings the tip's history has, and adds landings that only refs
// know of.
func (l *ledger) lookAtHistory(ctx context.Context) error {
	asked := slices.AppendSeq(slices.Clone(l.past), maps.Values(l.refs))
	if l.also != nil { // git is asked once
		asked = append(asked, l.also()...)
	}
	_, beyond, err := l.m.Objects().Ancestry(ctx, l.base, []string{l.tip}, asked)
	if err != nil {
		return err
	}
	var merged []string
	for ref, commit := range l.refs {
		if strings.HasSuffix(ref, "/after") && beyond[commit] == nil {
			merged = append(merged, ref)
		}
	}
	l.addElsewhere(merged)
	l.addUnrecorded(merged)
	slices.SortStableFunc(l.all, func(a, b *Stand) int { // by agent and number
		return cmp.Or(cmp.Compare(a.TurnSession, b.TurnSession), cmp.Compare(a.ID, b.ID))
	})
	for _, one := range l.all {
		one.elsewhere, one.anew = one.Target != l.branch, l.madeAnew(one)
		if one.anew {
			continue // the commit in the tip is that of the later landing
		}
		if ref := turn.LandedRef(one.TurnSession, one.ID, "after"); l.refs[ref] == one.After {
			one.inTip = slices.Contains(merged, ref)
		} else if one.inTip, err = l.m.Objects().Contains(ctx, l.tip, one.After); err != nil {
			return err
		}
		if one.inTip {
			one.Commit = one.After
		}
	}
	return l.lookForRewritten(ctx)
}

// madeAnew reports whether a later landing of the same work made the same commit: the branch had
// lost it in between.
func (l *ledger) madeAnew(one *Stand) bool {
	return !one.offered() && slices.ContainsFunc(l.of(one.TurnSession), func(later *Stand) bool {
		return later.ID > one.ID && later.After == one.After && later.Target == one.Target && !later.offered()
	})
}

// leftCommits returns commits that may have been in the branch and no longer are. They come from
// three places: the reflog of the branch, unless the branch only moved forward; the reflog of the
// session's target, if that is another branch; and the commits that agents began at, where neither
// the branch nor its reflog has them.
func (l *ledger) leftCommits(ctx context.Context) ([]string, error) {
	log, err := l.m.Refs().PastTips(l.branch)
	if err != nil {
		return nil, err
	}
	var tips []refs.PastTip
	if slices.ContainsFunc(log, func(p refs.PastTip) bool { return !movedForward(p.Why) }) {
		tips = slices.Clone(log)
	}
	if l.usual != "" && l.usual != l.branch {
		usual, err := l.m.Refs().PastTips(l.usual)
		if err != nil {
			return nil, err
		}
		tips = append(tips, usual...)
	}
	var commits []string
	for _, tip := range slices.Backward(tips) {
		if tip.Commit != l.tip && !slices.Contains(commits, tip.Commit) && len(commits) < mostPastTips {
			commits = append(commits, tip.Commit)
		}
	}
	var starts []string
	for _, s := range l.sessions {
		for _, w := range s.Agents {
			told := func(p refs.PastTip) bool { return p.Commit == w.BaseCommit }
			if s.Target == l.branch && s.Host == "" && w.BaseOnTarget && w.BaseCommit != l.tip && !slices.ContainsFunc(log, told) {
				starts = append(starts, w.BaseCommit)
			}
		}
	}
	if len(starts) == 0 {
		return commits, nil
	}
	_, beyond, err := l.m.Objects().Ancestry(ctx, "", []string{l.tip}, starts)
	return append(commits, slices.DeleteFunc(app.Once(starts), func(one string) bool { return beyond[one] == nil })...), err
}

// mostPastTips limits the commits of a reflog that are looked at.
const mostPastTips = 500

// movedForward reports whether a line of a reflog describes a move to a descendant.
func movedForward(why string) bool {
	if strings.HasPrefix(why, "paw land --undo") || strings.HasPrefix(why, "paw recover") {
		return false
	}
	return slices.ContainsFunc([]string{"commit: ", "commit (initial): ", "commit (merge): ", "clone: ", "branch: Created", "paw land ", "merge "},
		func(forward string) bool { return strings.HasPrefix(why, forward) })
}

// Standings returns all landings of a session by number, with their standing in their branches. A
// branch that is gone has none of them.
func Standings(ctx context.Context, h *app.App, s *session.Session) ([]Stand, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	all, err := standings(ctx, h, m, s)
	return slices.DeleteFunc(all, func(one Stand) bool { return one.Session != s.Name }), err
}

// standings is Standings with the landings of other sessions in the same branches.
func standings(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session) ([]Stand, error) {
	sessions, err := work{Agent: app.Agent{App: h, Session: s, Repo: m}}.siblings(ctx)
	if err != nil {
		return nil, err
	}
	var agents, branches []string
	for _, l := range s.Landings {
		agents, branches = append(agents, l.TurnSession), append(branches, l.Target)
	}
	var all []Stand
	for _, branch := range app.Once(branches) {
		tip, err := m.Refs().BranchTip(ctx, branch)
		if err != nil {
			return nil, err
		}
		if tip == "" {
			for _, l := range s.Landings {
				if l.Target == branch {
					one := Stand{Landing: l, Session: s.Name}
					one.Standing = one.standing()
					all = append(all, one)
				}
			}
			continue
		}
		led, err := lookAtLanded(ctx, m, sessions, target{branch: branch, tip: tip}, app.Once(agents)...)
		if err != nil {
			return nil, err
		}
		for _, one := range led.all {
			if one.Target == branch {
				all = append(all, *one)
			}
		}
	}
	slices.SortFunc(all, func(a, b Stand) int { return a.ID - b.ID })
	return all, nil
}

// newLedger returns a ledger of the landings and lives in the records of sessions.
func newLedger(m *worktree.Manager, sessions []*session.Session, t target) *ledger {
	l := &ledger{target: t, m: m, sessions: sessions, lives: lives{}}
	for _, one := range sessions {
		landings := map[string][]session.Landing{}
		for _, landing := range one.Landings {
			landings[landing.TurnSession] = append(landings[landing.TurnSession], landing)
			if landing.Target == l.branch {
				l.all = append(l.all, &Stand{Landing: landing, Session: one.Name})
			}
		}
		l.addLives(one, landings)
	}
	return l
}

// addLives adds the lives of a session's agents, including agents that were removed after a
// landing.
func (l *ledger) addLives(s *session.Session, landings map[string][]session.Landing) {
	agents := slices.Clone(s.Agents)
	for turnSession, own := range landings {
		_, known := l.lives[turnSession]
		if !known && !slices.ContainsFunc(agents, func(w session.Agent) bool { return w.TurnSession == turnSession }) {
			agents = append(agents, session.Agent{TurnSession: turnSession, From: began(own)})
		}
	}
	for i := range agents {
		l.lives[agents[i].TurnSession] = lifeOf(s, &agents[i], landings[agents[i].TurnSession])
	}
	for i := range s.Agents {
		if w := &s.Agents[i]; w.From != nil && w.From.Within {
			if from := s.Agent(w.From.Agent); from != nil {
				l.lives.startWithin(w.TurnSession, from.TurnSession, w.From)
			}
		}
	}
}

// addElsewhere adds landings in other branches, if these were merged into this one, or are the
// target of the session.
func (l *ledger) addElsewhere(merged []string) {
	for _, s := range l.sessions {
		for _, one := range s.Landings {
			ref := turn.LandedRef(one.TurnSession, one.ID, "after")
			if one.Target != l.branch && one.Phase == session.LandingDone && l.refs[ref] == one.After && (one.Target == l.usual || slices.Contains(merged, ref)) {
				l.all = append(l.all, &Stand{Landing: one, Session: s.Name})
			}
		}
	}
}

// addUnrecorded adds landings whose session has no record any more, if the tip's history has them.
// Their branch is unknown.
func (l *ledger) addUnrecorded(merged []string) {
	known := map[string]bool{}
	for _, one := range l.all {
		known[turn.LandedRef(one.TurnSession, one.ID, "after")] = true
	}
	for _, ref := range merged {
		turnSession, k, _, ok := turn.ParseLanded(ref)
		if _, recorded := l.lives[turnSession]; !ok || known[ref] || recorded {
			continue
		}
		l.all = append(l.all, &Stand{Landing: session.Landing{
			ID: k, TurnSession: turnSession, Target: l.branch, Phase: session.LandingDone, After: l.refs[ref],
			Before: l.refs[turn.LandedRef(turnSession, k, "before")], State: l.refs[turn.LandedRef(turnSession, k, "state")],
		}})
	}
}

// siblings returns the sessions of the repository: the agent's own as given, the others from their
// records. It settles shifts of agents that were interrupted.
func (w work) siblings(ctx context.Context) ([]*session.Session, error) {
	records, err := w.allRecords()
	if err != nil {
		return nil, err
	}
	own := w.Session
	sessions := slices.DeleteFunc(slices.Clone(records), func(one *session.Session) bool { return one.GitCommonDir != own.GitCommonDir || one.Name == own.Name })
	sessions = append(sessions, own)
	for _, one := range sessions {
		for i := range one.Agents {
			turns.SettleShift(ctx, w.Repo, &one.Agents[i])
		}
	}
	return sessions, nil
}
