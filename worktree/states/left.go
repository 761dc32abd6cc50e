package states

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"paw/worktree/objects"
)

// steps merges the steps that are work into a commit of the branch, one after the other, each with its begin as the base. One that is there path
// by path is left out. What a step has made of a conflict with what it got cannot be told apart from that any more: it conflicts.
func (l *Lands) steps(ctx context.Context, onto string) (merged objects.Merged, err error) {
	if merged.Tree, err = l.store.objects.TreeOf(ctx, onto); err != nil {
		return merged, err
	}
	for _, step := range l.Steps {
		if step.Got != "" {
			side, err := l.store.sideOf(ctx, step.From, step.Got)
			if err != nil {
				return merged, err
			}
			both, err := l.store.objects.MergeTree(ctx, l.Dir, side, step.Got)
			if errors.Is(err, objects.ErrUnrelated) { // paw update brought it
				continue
			}
			if err != nil {
				return merged, err
			}
			for _, side := range []string{step.From, step.Got} {
				var same []string
				if same, err = l.store.alike(ctx, side, step.To, both.Conflicts); err != nil {
					return merged, err
				}
				both.Conflicts = slices.DeleteFunc(both.Conflicts, func(path string) bool { return slices.Contains(same, path) })
			}
			if len(both.Conflicts) > 0 {
				return both, nil
			}
			continue
		}
		changed, err := l.store.objects.ChangedPaths(ctx, step.From, step.To)
		if err != nil {
			return merged, err
		}
		if same, err := l.store.alike(ctx, merged.Tree, step.To, changed); len(same) == len(changed) || err != nil {
			if err != nil {
				return merged, err
			}
			continue
		}
		if merged, err = l.store.objects.MergeTrees(ctx, l.Dir, step.From, merged.Tree, step.To); err != nil || len(merged.Conflicts) > 0 {
			return merged, err
		}
	}
	return merged, l.leaveAlike(ctx, onto, &merged)
}

// leaveAlike keeps the paths of the branch that the state has alike: what a step did there, a later one has taken back. What only came with
// commits that the branch has left is not taken back.
func (l *Lands) leaveAlike(ctx context.Context, onto string, merged *objects.Merged) error {
	changed, err := l.store.objects.ChangedPaths(ctx, onto, merged.Tree)
	if err != nil {
		return err
	}
	own, err := l.store.Paths(ctx, l.Ahead) // not by the name that another side has given a file
	if err != nil {
		return err
	}
	same, err := l.store.alike(ctx, onto, l.State, slices.DeleteFunc(changed, func(path string) bool { return !own[path] }))
	for _, step := range l.Steps {
		if err == nil && slices.Contains(l.Left, step.Got) {
			same, err = l.store.alike(ctx, step.From, step.To, same)
		}
	}
	if err == nil && len(same) > 0 {
		merged.Tree, err = l.store.objects.TreeWith(ctx, merged.Tree, onto, same)
	}
	return err
}

// alike returns those of some paths that two commits have alike.
func (s *Store) alike(ctx context.Context, one, other string, paths []string) ([]string, error) {
	differ, err := s.objects.ChangedPaths(ctx, one, other)
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return slices.Contains(differ, path) }), err
}

// clean returns the newest twin of the chain that has nothing of what the branch has left, "" for none.
func (a Ahead) clean() (twin string) {
	for _, step := range a.Steps {
		if slices.Contains(a.Left, step.Got) || slices.Contains(a.Left, step.From) {
			break
		}
		twin = step.To
	}
	return twin
}

// Updated makes the state that a worktree comes to with what a branch has and it has not. What the chain has got and
// the branch has left is its past no more.
func (s *Store) Updated(ctx context.Context, l Lands, session string) (string, error) {
	parents := []string{l.State, l.Tip}
	if len(l.Gone) > 0 {
		own, err := s.without(ctx, l, session)
		if err != nil {
			return "", err
		}
		if parents[0] = own; own == "" {
			parents = parents[1:]
		}
	}
	return s.Twin(ctx, l.Tree, session+" updated", parents...)
}

// StandsFor returns the twin of the state that a branch has after a landing, "" for none. Where the branch has left something that the state has
// got, that would count as there: it is a state without that.
func (s *Store) StandsFor(ctx context.Context, l Lands, session string) (string, error) {
	if len(l.Gone) == 0 {
		return l.State, nil
	}
	own, err := s.without(ctx, l, session)
	return cmp.Or(own, l.Clean), err
}

// without returns a twin that has the work of a chain, and nothing of what the chain has got and the branch has left: the steps that are work are
// merged, one after the other, into the newest state before that was got, or the commit that the chain began with. The same question gives the same
// twin. It is "" where that commit is left, too, or a step conflicts.
func (s *Store) without(ctx context.Context, l Lands, session string) (twin string, err error) {
	if l.Whole.Root != "" || len(l.Whole.Steps) == 0 {
		return "", nil
	}
	twin, rest := l.Whole.Steps[0].From, l.Whole.Steps
	if l.Clean != "" {
		twin, rest = l.Clean, rest[1+slices.IndexFunc(rest, func(one Step) bool { return one.To == l.Clean }):]
	}
	for i := range rest {
		part := l
		part.Steps, part.State = rest[i:i+1], rest[i].To
		merged, err := part.steps(ctx, twin)
		if err != nil || len(merged.Conflicts) > 0 {
			return "", err
		}
		if rest[i].Got != "" {
			continue
		}
		made := objects.NewCommit{Tree: merged.Tree, Parents: []string{twin}, Message: Subject + session + instead + rest[i].To + "\n", Own: true}
		made.Author = []string{"GIT_AUTHOR_DATE=@0 +0000", "GIT_COMMITTER_DATE=@0 +0000"}
		if twin, err = s.plain.Commit(ctx, made); err != nil {
			return "", err
		}
	}
	return twin, nil
}
