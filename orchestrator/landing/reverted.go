package landing

import (
	"context"
	"maps"
	"slices"

	"paw/worktree/states"
)

// workIn says what happens when work is merged into a commit that may have it: nothing changes in the paths in which the commit has it.
type workIn struct {
	tree      string   // with the commit's side of conflicts
	lacks     []string // paths that change
	conflicts []string // paths that conflict
}

// workIn merges pairs of commits into a commit, each with its first one as the base.
func (w work) workIn(ctx context.Context, t target, commit string, pairs [][2]string) (one workIn, err error) {
	one.tree = commit
	for _, pair := range pairs {
		merged, err := w.Repo.Objects().MergeTrees(ctx, t.place(w.Repo), pair[0], one.tree, pair[1])
		if err != nil {
			return one, err
		}
		if len(merged.Conflicts) > 0 {
			one.conflicts = append(one.conflicts, merged.Conflicts...)
			if merged.Tree, err = w.Repo.Objects().TreeWith(ctx, merged.Tree, one.tree, merged.Conflicts); err != nil {
				return one, err
			}
		}
		one.tree = merged.Tree
	}
	one.lacks, err = w.Repo.Objects().ChangedPaths(ctx, commit, one.tree)
	return one, err
}

// withoutReverts takes back the reverts that a branch has since a commit: those commits whose message says "This reverts commit". paths are
// those that this changes.
func (w work) withoutReverts(ctx context.Context, t target, since string) (tree string, paths []string, err error) {
	_, by, err := w.Repo.States().Mentioned(ctx, t.tip, since)
	if len(by) == 0 || err != nil {
		return t.tip, nil, err
	}
	history, err := w.Repo.Objects().HistorySince(ctx, t.tip, since)
	if err != nil {
		return "", nil, err
	}
	reverts := slices.Collect(maps.Values(by))
	var back [][2]string
	for _, one := range slices.Backward(history) {
		if slices.Contains(reverts, one.ID) && len(one.Parents) > 0 {
			back = append(back, [2]string{one.ID, one.Parents[0]})
		}
	}
	one, err := w.workIn(ctx, t, t.tip, back)
	return one.tree, one.lacks, err
}

// stepsOf returns the steps that are work, each as a pair of commits.
func stepsOf(steps []states.Step) (pairs [][2]string) {
	for _, step := range steps {
		if step.Got == "" {
			pairs = append(pairs, [2]string{step.From, step.To})
		}
	}
	return pairs
}
