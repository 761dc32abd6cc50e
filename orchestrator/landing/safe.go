package landing

import (
	"context"
	"slices"

	"paw/session"
	"paw/worktree"
)

// Safe is the state of an agent that a branch of the user's has, as a commit that has all of the agent's commits of then
// before it: that of a landing that stands, or one that was pushed and merged there; "" for none. What a branch has lost of the
// agent's work is not safe.
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

// safeIn is the state of an agent that one branch has.
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

// has reports whether a branch is known to have a commit.
func has(ctx context.Context, m worktree.Manager, branch, commit string) bool {
	tip, err := m.Refs().BranchTip(ctx, branch)
	if err != nil || tip == "" {
		return false
	}
	there, err := m.Objects().Contains(ctx, tip, commit)
	return err == nil && there
}
