package states

import (
	"context"
	"slices"
	"strings"

	"paw/worktree/objects"
)

// lookAtByHand finds a commit of the worktree that the branch has, in the history that the user sees, and notes that it stands for its twin: what
// has become of it there since, it is no work to land.
func (l *Lands) lookAtByHand(ctx context.Context) error {
	commit, err := l.store.newestIn(ctx, l.Tip, l.Steps)
	if err != nil || commit == "" {
		return err
	}
	made := slices.IndexFunc(l.Steps, func(step Step) bool { return step.Commit == commit })
	if back, err := l.keptBack(ctx, l.Steps[made]); back || err != nil {
		return err
	}
	return l.standFor(ctx, map[string]string{l.Steps[made].Made: commit})
}

// keptBack reports whether the user's git, which knows of no landing, has kept in that merge what the worktree has taken back since the last
// one. What the user has changed since is the user's.
func (l *Lands) keptBack(ctx context.Context, made Step) (bool, error) {
	if !slices.Contains(l.Once, l.Steps[0].From) {
		return false, nil
	}
	out, err := l.store.plain.Home().Output(ctx, "rev-list", "--first-parent", "--ancestry-path", "--reverse", made.Commit+".."+l.Tip, "--")
	if err != nil || out == "" {
		return false, err
	}
	merge, landed, then := strings.Fields(out)[0], l.Steps[0].From, made.Made
	all, err := l.store.objects.PathsOf(ctx, [][2]string{{landed, then}, {landed, merge}, {merge, then}, {merge, l.Tip}})
	if err != nil {
		return false, err
	}
	kept := false
	for path := range all[0] {
		if all[3][path] {
			return false, nil
		}
		kept = kept || !all[1][path] && all[2][path]
	}
	return kept, nil
}

// newestIn returns the newest commit of some steps that a tip has in the history that the user sees, "" for none.
func (s *Store) newestIn(ctx context.Context, tip string, steps []Step) (string, error) {
	var commits []string
	for _, step := range steps {
		if step.Commit != "" {
			commits = append(commits, step.Commit)
		}
	}
	in, err := s.In(ctx, commits, tip)
	for _, commit := range slices.Backward(commits) {
		if in[commit] && s.plain.Has(ctx, commit) {
			return commit, nil
		}
	}
	return "", err
}

// In returns which of some commits any of some tips has in the history that the user sees, or are not there, with one git process.
func (s *Store) In(ctx context.Context, commits []string, tips ...string) (map[string]bool, error) {
	if len(commits) == 0 || len(tips) == 0 {
		return nil, nil
	}
	out, err := s.plain.Home().Output(ctx, slices.Concat([]string{"rev-list", "--ignore-missing"}, commits, []string{"--not"}, tips, []string{"--"})...)
	if err != nil {
		return nil, err
	}
	in, lacks := map[string]bool{}, strings.Fields(out)
	for _, commit := range commits {
		in[commit] = !slices.Contains(lacks, commit)
	}
	return in, nil
}

// side returns a state as a commit to merge, which has a commit of the worktree that the other side has, "" for none.
func (s *Store) side(ctx context.Context, twin, byHand string) (string, error) {
	if byHand == "" {
		return twin, nil
	}
	return s.objects.Commit(ctx, objects.NewCommit{Tree: twin + "^{tree}", Parents: []string{twin, byHand}, Message: "paw: side\n", Own: true})
}

// sideOf is side for a commit that was got: the user's git may have brought commits of the worktree there.
func (s *Store) sideOf(ctx context.Context, twin, got string) (string, error) {
	ahead, err := s.Ahead(ctx, got, twin)
	if err != nil {
		return "", err
	}
	byHand, err := s.newestIn(ctx, got, ahead[0].Steps)
	if err != nil {
		return "", err
	}
	return s.side(ctx, twin, byHand)
}

// kept reports whether the branch stays different from the state in a path that several steps have changed: an
// earlier one may have come to the branch by hand, and a later one have taken it back.
func (l *Lands) kept(ctx context.Context) (bool, error) {
	if len(l.Steps) < 2 || len(l.Left) > 0 || l.follows() {
		return false, nil
	}
	differ, err := l.store.objects.ChangedPaths(ctx, l.Tree, l.State)
	if len(differ) == 0 || err != nil {
		return false, err
	}
	changed, err := l.store.objects.ChangedPaths(ctx, l.Tip, l.Tree)
	if err != nil {
		return false, err
	}
	often, err := l.store.changed(ctx, l.Ahead)
	return slices.ContainsFunc(differ, func(path string) bool { return often[path] > 1 && !slices.Contains(changed, path) }), err
}

// whole returns the newest state on the way to the one that is asked about that the tip has whole: to merge it changes
// nothing. A state that has put a path back as it was, while the tip has the path changed, is not one
// of them. The result is "" for none.
func (l *Lands) whole(ctx context.Context) (string, error) {
	if len(l.Left) > 0 {
		return "", nil
	}
	var twins []string
	var pairs [][2]string
	for _, step := range slices.Backward(l.Steps) {
		for _, twin := range []string{step.To, step.Made} {
			if twin != "" && !slices.Contains(twins, twin) {
				twins, pairs = append(twins, twin), append(pairs, [2]string{l.Stands, twin})
			}
		}
	}
	merged, err := l.store.objects.MergePairs(ctx, l.Dir, pairs)
	if err != nil {
		return "", err
	}
	tree, err := l.store.objects.TreeOf(ctx, l.Tip)
	for i, twin := range twins {
		if err != nil {
			return "", err
		}
		if len(merged[i].Conflicts) > 0 || merged[i].Tree != tree {
			continue
		}
		var back bool
		if back, err = l.putBack(ctx, twin); err == nil && !back {
			return twin, nil
		}
	}
	return "", err
}

// putBack reports whether the steps to a twin have changed a path and put it back as it was before,
// while the tip has it changed.
func (l *Lands) putBack(ctx context.Context, twin string) (bool, error) {
	base, err := l.store.objects.MergeBase(ctx, l.Stands, twin)
	if err != nil || base == "" {
		return true, err
	}
	to := l.Ahead
	to.Steps = to.Steps[:slices.IndexFunc(to.Steps, func(one Step) bool { return one.To == twin || one.Made == twin })+1]
	own, err := l.store.Paths(ctx, to)
	if err != nil {
		return true, err
	}
	kept, err := l.store.objects.ChangedPaths(ctx, base, twin)
	if err != nil {
		return true, err
	}
	for _, path := range kept {
		delete(own, path)
	}
	there, err := l.store.objects.ChangedPaths(ctx, base, l.Tip)
	return slices.ContainsFunc(there, func(path string) bool { return own[path] }), err
}

// takeBack merges the steps since the newest commit that was got one after the other: one may have taken back what an earlier one had
// changed, and the branch has by a commit that was picked by hand. Where that conflicts, the merge stays as it is.
func (l *Lands) takeBack(ctx context.Context) error {
	since := l.Steps
	for i, step := range l.Steps {
		if step.Got != "" {
			since = l.Steps[i+1:]
		}
	}
	if len(since) < 2 || l.Onto != "" && l.Onto != l.Tip {
		return nil
	}
	from := since[0].From
	often, err := l.store.changed(ctx, Ahead{Steps: since})
	if err != nil {
		return err
	}
	differ, err := l.store.objects.ChangedPaths(ctx, l.Tree, l.State)
	if err != nil || !slices.ContainsFunc(differ, func(path string) bool { return often[path] > 1 }) {
		return err
	}
	merged, err := l.store.objects.MergeTree(ctx, l.Dir, l.Stands, from)
	if err != nil || len(merged.Conflicts) > 0 {
		return err
	}
	later := *l
	later.Steps = since
	if merged, err = later.steps(ctx, merged.Tree); err != nil || len(merged.Conflicts) > 0 {
		return err
	}
	l.Merged = merged
	changes, err := l.store.objects.ChangesBetween(ctx, l.Tip, l.Tree)
	l.Nothing = len(changes) == 0
	return err
}
