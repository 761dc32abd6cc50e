package landing

import (
	"context"
	"slices"

	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Safe returns the newest snapshot of the agent whose work a branch of the user has: its state landed or
// was merged, or each path of it is there; "" for none.
func Safe(ctx context.Context, m *worktree.Manager, s *session.Session, w *session.Agent) string {
	of := work{asked: asked{Agent: app.Agent{Session: s, Record: w, Repo: m}}, records: []*session.Session{s}}
	branches := []string{s.Target}
	for _, l := range slices.Backward(s.Landings) {
		if l.TurnSession == w.TurnSession {
			branches = append(branches, l.Target)
		}
	}
	for _, branch := range app.Once(branches) {
		if state, err := of.safeIn(ctx, branch); err == nil && state != "" {
			return state
		}
	}
	commits := slices.Clone(w.Pushed)
	if tip, err := m.Refs().BranchTip(ctx, w.Branch); err == nil && tip != "" && slices.ContainsFunc(s.Landings, func(one session.Landing) bool { return of.hasMade(one, s.Target) }) { // an update after it may have brought all
		commits = append(commits, tip)
	}
	for _, commit := range slices.Backward(commits) {
		if branch, err := m.Refs().Reached(ctx, s.Target, commit); err == nil && branch == s.Target && branch != "" {
			return commit
		}
	}
	return ""
}

// safeIn is Safe for one branch.
func (w work) safeIn(ctx context.Context, branch string) (string, error) {
	own := w.Record.TurnSession
	refs, err := w.Repo.Refs().List(ctx, turn.NowRef(own), turn.StatePrefix(own))
	now := refs[turn.NowRef(own)]
	if branch == "" || now == "" || now == w.begin() || err != nil {
		return "", err
	}
	tip, err := w.Repo.Refs().BranchTip(ctx, branch)
	if err != nil || tip == "" {
		return "", err
	}
	t := target{branch: branch, tip: tip}
	l, err := w.landsOn(ctx, t, now, false)
	if err != nil {
		return "", err
	}
	if out, err := w.takenOut(ctx, t); out || err != nil {
		return "", err
	}
	state := now
	if l.None() {
		if gone, err := w.lostOf(ctx, t, now, now); err != nil || len(gone.taken) > 0 { // only paw keeps what nobody has landed as it is
			return "", err
		}
	}
	if !l.None() && len(l.Steps) > 0 {
		paths, err := w.Repo.States().Paths(ctx, l.Ahead)
		if err != nil {
			return "", err
		}
		differ, err := w.Repo.Objects().ChangedPaths(ctx, now, tip)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(differ, func(path string) bool { return paths[path] }) {
			state = l.Steps[0].From
		}
	}
	return w.snapshotOf(ctx, state, refs)
}

// takenOut reports whether a landing of the agent was rewritten, as by git commit --amend, and does not change all the
// files any more that it has changed. It has landed, but only paw keeps those files.
func (w work) takenOut(ctx context.Context, t target) (bool, error) {
	all, err := w.standings(ctx, t)
	for _, one := range all {
		if err == nil && one.TurnSession == w.Record.TurnSession && one.rewritten() && one.Commit != "" {
			if out, err := one.takenOut(ctx, w.Repo.Objects(), t.place(w.Repo)); out || err != nil {
				return out, err
			}
		}
	}
	return false, err
}
