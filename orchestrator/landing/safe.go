package landing

import (
	"context"
	"slices"

	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/states"
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
	if w.Merged != "" && slices.Contains(commits, w.Merged) { // on the server
		return w.Merged
	}
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
	state := l.known()
	if kept, err := w.keptIn(ctx, t, state); !kept || err != nil {
		return "", err
	}
	if own, err := w.Repo.States().Paths(ctx, l.Ahead); err != nil {
		return "", err
	} else if differ, err := w.differ(ctx, now, tip, own); err != nil {
		return "", err
	} else if !differ {
		state = now
	}
	return w.snapshotOf(ctx, state, refs)
}

// keptIn reports whether one commit in the history of a branch has all of the work that led to a state: a landing of the agent, a commit of its
// worktree, or the tip. That the history knows the state is not enough: the user may have amended a landing, or the work came along with a
// landing of another agent, which has deleted some of it.
func (w work) keptIn(ctx context.Context, t target, state string) (bool, error) {
	led, err := w.Repo.States().Ahead(ctx, w.begin(), state)
	if err != nil || led[0].None() {
		return err == nil, err
	}
	var commits []string
	if last := led[0].Steps[len(led[0].Steps)-1]; last.Commit != "" {
		commits = append(commits, last.Commit)
	}
	for _, one := range w.Session.Landings {
		if one.TurnSession == w.Record.TurnSession && one.Twin == state {
			commits = append(commits, one.After)
		}
	}
	in, err := w.Repo.States().In(ctx, commits, t.tip)
	for _, commit := range append(commits, t.tip) {
		if err != nil {
			return false, err
		}
		if commit != t.tip && !in[commit] {
			continue
		}
		_, lacks, conflicts, mergeErr := w.again(ctx, t, commit, inOne(led[0].Steps))
		if err = mergeErr; err != nil || len(lacks) > 0 {
			continue
		}
		own := map[string]bool{}
		for _, path := range conflicts {
			own[path] = true
		}
		var differ bool
		if differ, err = w.differ(ctx, state, commit, own); !differ && err == nil {
			return true, nil
		}
	}
	return false, err
}

// inOne makes one step of several that follow each other, with nothing got in between.
func inOne(steps []states.Step) (some []states.Step) {
	for _, step := range steps {
		if last := len(some) - 1; last >= 0 && step.Got == "" && some[last].To == step.From {
			some[last].To = step.To
		} else if step.Got == "" {
			some = append(some, states.Step{From: step.From, To: step.To})
		}
	}
	return some
}

// differ reports whether two commits differ in one of some paths.
func (w work) differ(ctx context.Context, one, other string, paths map[string]bool) (bool, error) {
	all, err := w.Repo.Objects().ChangedPaths(ctx, one, other)
	return slices.ContainsFunc(all, func(path string) bool { return paths[path] }), err
}
