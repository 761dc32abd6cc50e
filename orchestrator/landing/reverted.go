package landing

import (
	"context"
	"maps"
	"slices"

	"paw/worktree/objects"
	"paw/worktree/states"
)

// workIn says what happens when work is merged into a commit that may have it: nothing changes in the paths in which the commit has it.
type workIn struct {
	tree      string   // with the commit's side of conflicts
	lacks     []string // paths that change
	conflicts []string // paths that conflict
}

func (w work) workIn(ctx context.Context, t target, commit string, pairs [][2]string) (one workIn, err error) {
	if one.tree, one.conflicts, err = mergeOnto(ctx, w, t, commit, pairs); err != nil {
		return one, err
	}
	one.lacks, err = w.Repo.Objects().ChangedPaths(ctx, commit, one.tree)
	return one, err
}

// revertedWork says what a branch would have of an agent's work if its reverts were taken back. A revert is a commit whose message says
// "This reverts commit".
type revertedWork struct {
	by     map[string][]string // reverts, by the paths that they change
	work   workIn              // the work merged into the branch without its reverts
	differ []string            // paths in which the branch without its reverts differs from the agent's state
	steps  []string            // paths that change if each step of the work is merged into the branch by itself, so that one that removes what another has added counts
}

// same reports whether the branch without its reverts has a path as the agent's state has it, and lacks a step of the work there.
func (r revertedWork) same(path string) bool {
	return len(r.by[path]) > 0 && !slices.Contains(r.differ, path) && slices.Contains(r.steps, path)
}

// has reports whether the reverts took the work in a path out of the branch. lacks says that the branch lacks it now.
func (r revertedWork) has(path string, lacks bool) bool {
	return r.same(path) || lacks && len(r.by[path]) > 0 && !slices.Contains(r.work.lacks, path) && !slices.Contains(r.work.conflicts, path)
}

func (w work) withoutReverts(ctx context.Context, t target, since, state string, chain states.Ahead) (r revertedWork, err error) {
	_, by, err := w.Repo.States().Mentioned(ctx, t.tip, since)
	if len(by) == 0 || err != nil {
		return r, err
	}
	history, err := w.Repo.Objects().HistorySince(ctx, t.tip, since)
	if err != nil {
		return r, err
	}
	r.by = map[string][]string{}
	reverts := slices.Collect(maps.Values(by))
	tree := t.tip
	for _, one := range slices.Backward(history) {
		if !slices.Contains(reverts, one.ID) || len(one.Parents) == 0 {
			continue
		}
		without, _, err := mergeOnto(ctx, w, t, tree, [][2]string{{one.ID, one.Parents[0]}})
		if err != nil {
			return r, err
		}
		paths, err := w.Repo.Objects().ChangedPaths(ctx, tree, without)
		if err != nil {
			return r, err
		}
		for _, path := range paths {
			r.by[path] = append(r.by[path], one.ID)
		}
		tree = without
	}
	if r.differ, err = w.Repo.Objects().ChangedPaths(ctx, tree, state); err != nil {
		return r, err
	}
	var steps [][2]string
	for _, step := range chain.Steps {
		if step.Got == "" {
			steps = append(steps, [2]string{step.From, step.To})
		}
	}
	now, err := w.workIn(ctx, t, t.tip, steps)
	if err != nil {
		return r, err
	}
	r.steps = now.lacks
	r.work, err = w.workIn(ctx, t, tree, chain.Work())
	return r, err
}

// newer reports whether one of some commits is not in the history of another one.
func newer(ctx context.Context, o *objects.Store, some []string, than string) (bool, error) {
	for _, one := range some {
		if has, err := o.Contains(ctx, than, one); !has || err != nil {
			return !has, err
		}
	}
	return false, nil
}

// mergeOnto merges pairs of commits into a commit, each with its first one as the base. Where that conflicts the tree has the commit's
// side.
func mergeOnto(ctx context.Context, w work, t target, onto string, pairs [][2]string) (tree string, conflicts []string, err error) {
	tree = onto
	for _, pair := range pairs {
		merged, err := w.Repo.Objects().MergeTrees(ctx, t.place(w.Repo), pair[0], tree, pair[1])
		if err != nil {
			return "", nil, err
		}
		if len(merged.Conflicts) > 0 {
			conflicts = append(conflicts, merged.Conflicts...)
			if merged.Tree, err = w.Repo.Objects().TreeWith(ctx, merged.Tree, tree, merged.Conflicts); err != nil {
				return "", nil, err
			}
		}
		tree = merged.Tree
	}
	return tree, conflicts, nil
}
