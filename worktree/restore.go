package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"paw/config/disk"
	"paw/worktree/gitdir"
)

// Restore makes the worktree of p again at the same path if its directory is gone. What only the
// old git directory led to is kept under rescueRef first ("" if there was nothing); the old git
// directory is moved to the trash folder.
//
// The error is a *ConflictError if the branch is gone or checked out elsewhere, or if something
// else is at the path. For step see Create.
func (m *Manager) Restore(ctx context.Context, p Plan, step func(name string)) (rescueRef string, err error) {
	p.CreateBranch, p.restores = false, true
	made, err := m.Create(ctx, []Plan{p}, step)
	if err != nil {
		return "", err
	}
	return made[0].Rescue, nil
}

// mayReplace reports whether Create may make a worktree in place of a registered one: one that was made
// for p or, to restore it, one whose directory is gone and that the user has unlocked.
func mayReplace(e Entry, p Plan) bool {
	return ownedBy(e, p) || p.restores && !e.Locked && e.Branch == p.Branch && disk.SamePath(e.Path, p.Path) && vacant(e.Path)
}

// vacant reports whether a worktree's directory is missing or empty.
func vacant(path string) bool {
	content, err := os.ReadDir(path)
	return len(content) == 0 && (err == nil || !disk.Exists(path))
}

// LastHead returns the newest commit in the reflog of the worktree's HEAD, even if the branch is
// gone; "" without a reflog.
func (e Entry) LastHead() string { return gitdir.LastHead(e.AdminDir) }

// resume finds what an earlier Create has left for a plan. Complete worktrees are kept; those that
// are only registered or partly filled are moved to the trash: no agent has worked there, since
// only a filled worktree is handed to one. busy names the git directory of a worktree that is being
// filled right now.
func (m *Manager) resume(ctx context.Context, p Plan, entries []Entry) (c *creation, busy string, err error) {
	c = &creation{plan: p, made: Made{Agent: p.Agent}}
	for _, e := range entries[1:] {
		if !mayReplace(e, p) {
			continue
		}
		_, wrong := gitdir.Linked(p.Path, m.Repository.CommonDir, "")
		whole := !e.Prunable && wrong == nil
		if whole && disk.Exists(gitdir.FilledMark(e.AdminDir)) {
			c.admin = e.AdminDir
			c.made.Existed = true
			continue
		}
		if disk.Exists(gitdir.FilledMark(e.AdminDir)) { // The worktree was in use, and its directory is gone.
			if c.made.Rescue, _, err = m.rescues().keep(ctx, e.AdminDir, p.Owner); err != nil {
				return c, "", err
			}
		}
		lock, err := gitdir.OpenLock(gitdir.FillingLock(e.AdminDir))
		if err != nil {
			return c, "", err
		}
		if locked, err := disk.TryLock(lock); !locked {
			lock.Close()
			return c, e.AdminDir, err
		}
		_, wrong = gitdir.Linked(p.Path, m.Repository.CommonDir, p.Branch)
		if whole && wrong == nil && disk.Exists(filepath.Join(e.AdminDir, "index")) && !disk.Exists(filepath.Join(e.AdminDir, "index.lock")) {
			// The index is written last: only the hook may not have run.
			c.admin, c.filling = e.AdminDir, lock
			continue
		}
		err = m.Trash().setAside(e, p.Path)
		lock.Close()
		if err != nil {
			return c, "", err
		}
	}
	return c, "", nil
}

// Rollback removes what one Create has made, if it is unused: like Remove, and then the branch, if Create has made
// it and it is still at the base. Worktrees that existed before are kept. The error names what has to stay.
func (m *Manager) Rollback(ctx context.Context, plans []Plan, made []Made) error {
	byAgent := map[string]Plan{}
	for _, p := range plans {
		byAgent[p.Agent] = p
	}
	var errs []error
	for _, done := range made {
		p, known := byAgent[done.Agent]
		if !known || done.Existed || m.takenByAnother(p) {
			continue
		}
		if _, err := m.Remove(ctx, p, Seen{}); err != nil {
			errs = append(errs, fmt.Errorf("%s: kept: %w", p.Path, err))
		} else if done.BranchCreated {
			errs = append(errs, m.DeleteBranches(ctx, map[string]string{p.Branch: p.Base}, p.Base)[p.Branch])
		}
	}
	return errors.Join(errs...)
}

// takenByAnother reports whether another session was faster: what is at the path of a plan is then nothing of the plan's.
func (m *Manager) takenByAnother(p Plan) bool {
	admin, err := gitdir.Linked(p.Path, m.Repository.CommonDir, "")
	return err == nil && ofAnother(readEntry(admin, &gitdir.Refs{CommonDir: m.Repository.CommonDir}), p)
}

// undo removes registration and directory of creations that failed, and also a branch that this call has created and
// that is still at its base.
func (m *Manager) undo(ctx context.Context, failed []*creation) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	var errs []error
	for _, c := range failed {
		if c.made.Existed {
			continue
		}
		if _, err := m.RemoveKept(ctx, c.plan); err != nil && c.admin != "" {
			errs = append(errs, err)
			continue
		}
		if c.made.BranchCreated {
			errs = append(errs, m.DeleteBranches(ctx, map[string]string{c.plan.Branch: c.plan.Base}, c.plan.Base)[c.plan.Branch])
		}
	}
	return errors.Join(errs...)
}

// Holders returns the branches that worktrees use, each with the path of one such worktree. The
// worktrees of the plans in but do not count.
func (r *Registry) Holders(ctx context.Context, but ...Plan) (map[string]string, error) {
	entries, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	holders := map[string]string{}
	for _, e := range entries {
		if e.Bare || slices.ContainsFunc(but, func(p Plan) bool { return disk.SamePath(p.Path, e.Path) }) {
			continue
		}
		for _, branch := range gitdir.BranchesInUse(e.AdminDir) {
			holders[branch] = e.Path
		}
	}
	return holders, nil
}
