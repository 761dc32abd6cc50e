package landing

import (
	"context"
	"slices"

	"paw/session"
	"paw/worktree"
)

// Safe returns a commit whose history has the agent's commits, and that a branch of the user has:
// the state of a landing that stands, or a commit that was pushed and merged; "" for none. If a
// branch has lost some of the agent's work, none of it counts as safe.
func Safe(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Agent) string {
	var targets []string
	for _, l := range slices.Backward(s.Landings) {
		if l.TurnSession == w.TurnSession && !slices.Contains(targets, l.Target) {
			targets = append(targets, l.Target)
		}
	}
	for _, branch := range targets {
		if state := safeIn(ctx, m, s, w, branch); state != "" {
			return state
		}
	}
	for _, commit := range slices.Backward(w.Pushed) {
		if s.Target != "" && has(ctx, m, s.Target, commit) {
			return commit
		}
	}
	return ""
}

// safeIn is Safe for one branch.
func safeIn(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Agent, branch string) string {
	tip, err := m.Refs().BranchTip(ctx, branch)
	if err != nil || tip == "" {
		return ""
	}
	led, err := lookAtLanded(ctx, m, []*session.Session{s}, target{branch: branch, tip: tip}, w.TurnSession)
	if err != nil {
		return ""
	}
	line := led.lives.line(led.lives[w.TurnSession].now)
	state, nearest := "", len(line)
	for _, one := range led.of(w.TurnSession) {
		at := slices.Index(line, one.point())
		switch {
		case at < 0:
		case led.lostFor(one.point(), one):
			return ""
		case one.stands() && at < nearest:
			state, nearest = one.State, at
		}
	}
	return state
}

// has reports whether a branch has a commit, false if that is unknown.
func has(ctx context.Context, m worktree.Manager, branch, commit string) bool {
	tip, err := m.Refs().BranchTip(ctx, branch)
	if err != nil || tip == "" {
		return false
	}
	there, err := m.Objects().Contains(ctx, tip, commit)
	return err == nil && there
}
