package landing

import (
	"context"
	"maps"
	"slices"

	"paw/worktree/objects"
	"paw/worktree/states"
)

// workIn says how a commit takes work that is merged into it once more.
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

// revertedWork is what a branch would have of some work without the commits that say they revert another one.
type revertedWork struct {
	by     map[string][]string // these commits, by the paths that they change
	work   workIn              // how the branch takes the work then
	differ []string            // paths that are not as in the state of the work then
	steps  []string            // paths in which the branch lacks a single step of the work now, which a later one may have taken back
}

// same reports whether the branch would have a path as the state of the work.
func (r revertedWork) same(path string) bool {
	return len(r.by[path]) > 0 && !slices.Contains(r.differ, path) && slices.Contains(r.steps, path)
}

// has reports whether the branch, which may lack the work in a path, would have it.
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
