package worktree

import "context"

// Release takes paw's lock off the worktree at path, which stays where it is and
// is the user's from then on. One that is not locked, not paw's or gone is no error.
func (m Manager) Release(ctx context.Context, path string) error {
	x, err := m.exclude(ctx)
	if err != nil {
		return err
	}
	defer x.release()
	e, err := m.removable(ctx, path)
	if err != nil || e == nil {
		return nil
	}
	return m.home().Run(ctx, "worktree", "unlock", path)
}
