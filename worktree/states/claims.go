package states

import (
	"context"
	"slices"
)

// Claims is a question about a worktree: does its HEAD have commits of a branch whose changes the worktree's files do not have?
type Claims struct {
	Dir         string          // directory whose git attributes apply to merges
	Tip         string          // of the branch
	State, Head string          // twin of the worktree's state, and HEAD
	Made        map[string]bool // commits that were made in the worktree
}

// Claims answers it. So it is after a git reset --soft to a newer commit: git takes these changes for taken back. instead is the newest
// commit of the branch that the state has got, "" where HEAD does not claim anything. committed says that commits on top of the newer one
// take the changes back: so does what git makes of them when it merges or replays them.
func (s *Store) Claims(ctx context.Context, c Claims) (instead string, committed bool, err error) {
	all, err := s.reached(ctx, []string{c.Head}, []string{c.Tip}, c.Made)
	for _, one := range all {
		if err != nil {
			return "", false, err
		}
		lacks, err := s.claimed(ctx, c, one.commit)
		if err != nil {
			return "", false, err
		}
		if len(lacks) == 0 {
			continue
		}
		if instead, err = s.plain.MergeBase(ctx, c.State, c.Tip); instead == "" || err != nil {
			return "", false, err
		}
		since, err := s.lines(ctx, s.plain, "--first-parent", c.Head, "^"+one.commit, "--")
		if err != nil || len(since) == 0 || !slices.Equal(since[len(since)-1].parents, []string{one.commit}) {
			return instead, false, err
		}
		differ, err := s.objects.ChangedPaths(ctx, one.commit, c.Head)
		return instead, slices.ContainsFunc(differ, func(path string) bool { return slices.Contains(lacks, path) }), err
	}
	return "", false, err
}

// claimed returns the paths in which the state lacks what a commit would bring, but for files that neither the commit nor HEAD has: those the
// worktree may have without git's knowledge.
func (s *Store) claimed(ctx context.Context, c Claims, commit string) ([]string, error) {
	if has, err := s.objects.Contains(ctx, c.State, commit); has || err != nil {
		return nil, err
	}
	merged, err := s.objects.MergeTree(ctx, c.Dir, c.State, commit)
	if err != nil {
		return nil, err
	}
	paths, err := s.objects.ChangedPaths(ctx, c.State, merged.Tree)
	var lacks []string
	for _, path := range append(paths, merged.Conflicts...) {
		for _, in := range []string{commit, c.Head} {
			has := false
			if err == nil {
				has, err = s.objects.HasFile(ctx, in, path)
			}
			if has {
				lacks = append(lacks, path)
				break
			}
		}
	}
	return lacks, err
}
