package states

import (
	"cmp"
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

// Updated makes the state that a worktree comes to with what a branch has and it has not. What the chain has got and
// the branch has left is its past no more.
func (s *Store) Updated(ctx context.Context, l Lands, session string) (string, error) {
	parents := []string{l.State, l.Tip}
	if len(l.Left) > 0 {
		own, err := s.Without(ctx, l, session)
		if err != nil {
			return "", err
		}
		if parents[0] = own; own == "" {
			parents = parents[1:]
		}
	}
	return s.Twin(ctx, l.Tree, session+" updated", parents...)
}

// StandsFor returns the twin of the state that a branch has after a landing, "" for none: where the branch has left some of what
// the chain has got, it is not the one that landed.
func (s *Store) StandsFor(ctx context.Context, l Lands, session string) (string, error) {
	if len(l.Left) == 0 {
		return l.State, nil
	}
	own, err := s.Without(ctx, l, session)
	return cmp.Or(own, l.Clean()), err
}

// Without returns a twin that has the work of a chain, and nothing of what the chain has got and the
// branch has left: the steps that are work are merged, one after the other, into the newest state before that was got, or the
// commit that the chain began with. The same question gives the same twin. It is "" where that commit is left, too, or a step conflicts.
func (s *Store) Without(ctx context.Context, l Lands, session string) (twin string, err error) {
	if len(l.Whole) == 0 || l.Root != "" {
		return "", nil
	}
	twin, rest := l.Whole[0].From, l.Whole
	if clean := l.Clean(); clean != "" {
		twin, rest = clean, rest[1+slices.IndexFunc(rest, func(one Step) bool { return one.To == clean }):]
	}
	if mixed, err := s.mixed(ctx, l.Dir, rest); len(mixed) > 0 || err != nil {
		return "", err
	}
	for _, step := range rest {
		if step.Got != "" {
			continue
		}
		merged, err := s.steps(ctx, l.Dir, twin, [][2]string{{step.From, step.To}})
		if err != nil || len(merged.Conflicts) > 0 {
			return "", err
		}
		made := objects.NewCommit{Tree: merged.Tree, Parents: []string{twin}, Message: Subject + session + without + step.To + "\n", Own: true}
		made.Author = []string{"GIT_AUTHOR_DATE=@" + step.at + " +0000", "GIT_COMMITTER_DATE=@" + step.at + " +0000"}
		if twin, err = s.plain.Commit(ctx, made); err != nil {
			return "", err
		}
	}
	return twin, nil
}

// leaveParts leaves out the steps that the branch has without what it has left: an update brought them to a state that has
// landed, and is no part of this chain.
func (s *Store) leaveParts(ctx context.Context, l *Lands) error {
	if len(l.Left) == 0 || len(l.Steps) == 0 || len(l.Once) == 0 {
		return nil
	}
	others, err := s.lines(ctx, s.plain, slices.Concat(l.Once, []string{"^" + l.State, "--"})...)
	l.Parts = map[string]string{}
	others = slices.DeleteFunc(others, func(one line) bool { return !l.Has(one.of) })
	for _, one := range others {
		has, err := s.objects.Contains(ctx, l.Stands, one.id)
		if err != nil {
			return err
		}
		if has {
			l.Parts[one.of] = one.id
		}
	}
	l.Since(l.Parts)
	return err
}
