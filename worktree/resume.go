package worktree

import (
	"context"
	"path/filepath"

	"paw/config/disk"
)

// resume finds what an earlier Create left for a plan. Complete worktrees are
// kept; those that are only registered or partly filled are moved aside, since
// nobody has worked there yet: only a filled worktree is ever handed to an agent.
// busy names the git directory of one that somebody is filling right now.
func (m Manager) resume(ctx context.Context, p Plan, entries []Entry) (c *creation, busy string, err error) {
	c = &creation{plan: p, made: Made{Agent: p.Agent}}
	for _, e := range entries[1:] {
		if p.TakeBack && released(e, p) {
			c.admin, c.made.Existed = e.AdminDir, true
			if err := lockFor(e, p); err != nil {
				return c, "", err
			}
			continue
		}
		if !ownedBy(e, p) {
			continue
		}
		_, wrong := verified(p.Path, m.Repository.CommonDir, "")
		whole := !e.Prunable && wrong == nil
		if whole && exists(filledMark(e.AdminDir)) {
			c.admin = e.AdminDir
			c.made.Existed = true
			continue
		}
		if exists(filledMark(e.AdminDir)) { // it was in use, and its directory is gone
			if _, _, err := m.rescue(ctx, e.AdminDir, p.Owner); err != nil {
				return c, "", err
			}
		}
		lock, err := openLock(fillingLock(e.AdminDir))
		if err != nil {
			return c, "", err
		}
		if locked, err := disk.TryLock(lock); !locked {
			lock.Close()
			return c, e.AdminDir, err
		}
		_, wrong = verified(p.Path, m.Repository.CommonDir, p.Branch)
		if whole && wrong == nil && exists(filepath.Join(e.AdminDir, "index")) && !exists(filepath.Join(e.AdminDir, "index.lock")) {
			// The index is written last: only the hook may be missing.
			c.admin, c.filling = e.AdminDir, lock
			continue
		}
		err = m.setAside(e, p.Path)
		lock.Close()
		if err != nil {
			return c, "", err
		}
	}
	return c, "", nil
}
