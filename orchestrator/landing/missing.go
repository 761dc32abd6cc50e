package landing

import (
	"context"
	"maps"
	"slices"
)

// missing returns the paths that a state's own work has changed and that a target has as they were before that work: others who
// built on it have taken it back, or it was reverted. What the target has under another name is not missing.
func (w work) missing(ctx context.Context, t target, state string) (paths []string, err error) {
	begin := w.begin()
	if begin == "" || begin == state {
		return nil, nil
	}
	chain, err := w.Repo.States().Ahead(ctx, begin, state)
	if err != nil {
		return nil, err
	}
	own, err := w.Repo.States().Paths(ctx, chain[0])
	if err != nil || len(own) == 0 {
		return nil, err
	}
	changes, err := w.Repo.Objects().BlobChanges(ctx, [][2]string{{begin, state}, {begin, t.tip}})
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, change := range changes[1] {
		there[change.To] = true
	}
	for _, path := range slices.Sorted(maps.Keys(own)) {
		change, changed := changes[0][path]
		if _, moved := changes[1][path]; changed && !moved && !there[change.To] {
			paths = append(paths, path)
		}
	}
	return paths, nil
}
