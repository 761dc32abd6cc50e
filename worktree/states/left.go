package states

import (
	"context"
	"errors"
	"slices"
	"strings"

	"paw/worktree/git"
	"paw/worktree/objects"
)

// steps merges pairs of commits into a tip, each with its first commit as the base. One that the tip has
// path by path is left out.
func (s *Store) steps(ctx context.Context, dir, tip string, work [][2]string) (merged objects.Merged, err error) {
	if merged.Tree, err = s.objects.TreeOf(ctx, tip); err != nil {
		return merged, err
	}
	for _, pair := range work {
		if has, err := s.has(ctx, merged.Tree, pair); has || err != nil {
			if err != nil {
				return merged, err
			}
			continue
		}
		if merged, err = s.objects.MergeTrees(ctx, dir, pair[0], merged.Tree, pair[1]); err != nil || len(merged.Conflicts) > 0 {
			return merged, err
		}
	}
	return merged, nil
}

// mixed returns the paths in which steps have resolved a conflict of work with what they got, so that both stands there in one. Where all
// lines of the work are still there, and no line is new, the work before stands for it.
func (s *Store) mixed(ctx context.Context, dir string, steps []Step) (paths []string, err error) {
	for _, step := range steps {
		if step.Got == "" {
			continue
		}
		merged, err := s.objects.MergeTree(ctx, dir, step.From, step.Got)
		if errors.Is(err, objects.ErrUnrelated) { // paw update brought it
			continue
		}
		if err != nil {
			return nil, err
		}
		changed, err := s.objects.ChangedPaths(ctx, step.From, step.To)
		if err != nil {
			return nil, err
		}
		for _, path := range merged.Conflicts {
			if !slices.Contains(changed, path) {
				continue
			}
			if whole, err := s.linesKept(ctx, step, path); err != nil {
				return nil, err
			} else if !whole {
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

// linesKept reports whether a file has all lines of the work before a step got something, and no other ones than these and what it got.
func (s *Store) linesKept(ctx context.Context, step Step, path string) (bool, error) {
	base, err := s.objects.MergeBase(ctx, step.From, step.Got)
	if err != nil {
		return false, err
	}
	var has [4]map[string]bool
	for i, commit := range []string{base, step.From, step.Got, step.To} {
		text, err := s.plain.Home().Output(ctx, "cat-file", "blob", commit+":"+path)
		if err != nil && git.ExitCode(err) != 128 { // there is no such file
			return false, err
		}
		has[i] = map[string]bool{}
		for line := range strings.Lines(text) {
			has[i][line] = true
		}
	}
	before, work, got, now := has[0], has[1], has[2], has[3]
	for line := range work {
		if !before[line] && !now[line] {
			return false, nil
		}
	}
	for line := range now {
		if !work[line] && !got[line] {
			return false, nil
		}
	}
	return true, nil
}

// leaveAlike keeps the paths of the branch that the state has alike: what a step did there, a later one has
// taken back. What only came with commits that the branch has left is not taken back.
func (s *Store) leaveAlike(ctx context.Context, l *Lands, onto string) error {
	alike, err := s.objects.ChangedPaths(ctx, onto, l.Tree)
	if err != nil {
		return err
	}
	apart := [][2]string{{onto, l.State}}
	for _, step := range l.Steps {
		if slices.Contains(l.Left, step.Got) {
			apart = append(apart, [2]string{step.From, step.To})
		}
	}
	for _, pair := range apart {
		differ, err := s.objects.ChangedPaths(ctx, pair[0], pair[1])
		if err != nil {
			return err
		}
		alike = slices.DeleteFunc(alike, func(path string) bool { return slices.Contains(differ, path) })
	}
	if len(alike) > 0 {
		l.Tree, err = s.objects.TreeWith(ctx, l.Tree, onto, alike)
	}
	return err
}

// has reports whether a tree has all paths in which two commits differ as the second one has them.
func (s *Store) has(ctx context.Context, tree string, pair [2]string) (bool, error) {
	changed, err := s.objects.ChangedPaths(ctx, pair[0], pair[1])
	if err != nil {
		return false, err
	}
	differ, err := s.objects.ChangedPaths(ctx, tree, pair[1])
	return err == nil && !slices.ContainsFunc(changed, func(path string) bool { return slices.Contains(differ, path) }), err
}

// Without returns a twin that has the work of a chain, and nothing of what the chain has got and the
// branch has left: the steps that are work are merged into the newest state before that was got, or the commit that
// the chain began with. It is "" where that commit is left, too, or a step conflicts.
func (s *Store) Without(ctx context.Context, l Lands, name string) (string, error) {
	if len(l.Whole) == 0 || l.Root != "" {
		return "", nil
	}
	begin, rest := l.Whole[0].From, l.Whole
	if clean := l.Clean(); clean != "" {
		begin, rest = clean, rest[1+slices.IndexFunc(rest, func(one Step) bool { return one.To == clean }):]
	}
	pairs := work(rest)
	if len(pairs) == 0 {
		return begin, nil
	}
	merged, err := s.steps(ctx, l.Dir, begin, pairs)
	if err != nil || len(merged.Conflicts) > 0 {
		return "", err
	}
	if mixed, err := s.mixed(ctx, l.Dir, rest); len(mixed) > 0 || err != nil {
		return "", err
	}
	return s.Twin(ctx, merged.Tree, name, begin)
}
