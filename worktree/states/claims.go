package states

import "context"

// Claims is a question about a worktree: does its HEAD have commits of a branch whose changes the worktree's files do not have?
type Claims struct {
	Dir         string          // directory whose git attributes apply to merges
	Tip         string          // of the branch
	State, Head string          // twin of the worktree's state, and HEAD
	Made        map[string]bool // commits that were made in the worktree
}

// Claims answers it. So it is after a git reset --soft to a newer commit: git takes these changes for taken back, and what it merges from
// there on, or replays, takes them back. instead is the newest commit of the branch that the state has got, "" where HEAD does not claim
// anything.
func (s *Store) Claims(ctx context.Context, c Claims) (instead string, err error) {
	all, err := s.reached(ctx, []string{c.Head}, []string{c.Tip}, c.Made)
	for _, one := range all {
		if err != nil {
			return "", err
		}
		if has, err := s.objects.Contains(ctx, c.State, one.commit); has || err != nil {
			if err != nil {
				return "", err
			}
			continue
		}
		merged, err := s.objects.MergeTree(ctx, c.Dir, c.State, one.commit)
		if err != nil {
			return "", err
		}
		if same, err := s.objects.SameTree(ctx, merged.Tree, c.State); err != nil || !same || len(merged.Conflicts) > 0 {
			if err != nil {
				return "", err
			}
			return s.plain.MergeBase(ctx, c.State, c.Tip)
		}
	}
	return "", err
}
