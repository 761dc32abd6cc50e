package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Unregistered reports whether the directory of p is a worktree of this
// repository whose registration is gone, as after `git worktree prune` while its
// disk was not there. Restore registers it again.
func (m Manager) Unregistered(p Plan) bool {
	target, err := readGitFile(filepath.Join(p.Path, ".git"))
	return err == nil && !exists(target) &&
		samePath(filepath.Dir(target), filepath.Join(m.Repository.CommonDir, "worktrees"))
}

// registerAgain makes a worktree beside the directory, with the index of HEAD and
// no files, and hands its registration over. Then what the agent had not
// committed shows as changes. A registration is marked as filled before it is
// handed over, so that no later step takes the directory for a partial checkout.
func (m Manager) registerAgain(ctx context.Context, p Plan) error {
	beside := p
	beside.Path = p.Path + ".paw-again"
	x, err := m.exclude(ctx)
	if err != nil {
		return err
	}
	defer x.release()
	if err := m.clear(ctx, beside.Path, p, beside); err != nil {
		return err
	}
	entries, err := m.List(ctx)
	if err != nil {
		return err
	}
	if _, err := m.check(ctx, []Plan{beside}, entries); err != nil {
		return err
	}
	c := &creation{plan: beside}
	if err := m.add(ctx, x, c); err != nil {
		return err
	}
	defer c.close()
	err = in(beside.Path).Run(ctx, "read-tree", "HEAD")
	if err == nil {
		err = os.WriteFile(filledMark(c.admin), nil, 0o666)
	}
	if err == nil {
		err = handOver(c.admin, beside.Path, p.Path)
	}
	if err != nil {
		return errors.Join(err, m.undoLocked(ctx, x, []*creation{c}))
	}
	return nil
}

// handOver makes the registration of the worktree at from that of the directory
// at to. Until the last rename the directory counts as unregistered.
func handOver(admin, from, to string) error {
	if err := os.WriteFile(filepath.Join(admin, "gitdir"), []byte(filepath.Join(to, ".git")+"\n"), 0o666); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(from, ".git"), filepath.Join(to, ".git")); err != nil {
		return err
	}
	return os.Remove(from)
}
