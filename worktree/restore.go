package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Restore makes the worktree of p again at the same path when its directory is
// gone. What only the old git directory led to is kept under rescueRef first
// ("" when there was nothing); the old git directory itself goes into the trash
// folder. When the directory is there and only its registration is gone, it is
// registered again and no file in it changes.
//
// It is refused with *ConflictError when the branch is gone or checked out
// elsewhere, or when something else is at the path. step is that of Create.
func (m Manager) Restore(ctx context.Context, p Plan, step func(name string)) (rescueRef string, err error) {
	p.CreateBranch = false
	rescueRef, err = m.clearLost(ctx, p)
	if err != nil {
		return rescueRef, err
	}
	if m.Unregistered(p) {
		return rescueRef, m.registerAgain(ctx, p)
	}
	_, err = m.Create(ctx, []Plan{p}, step)
	return rescueRef, err
}

// clearLost moves the registration of a directory that is gone out of the way,
// once nothing else is.
func (m Manager) clearLost(ctx context.Context, p Plan) (string, error) {
	x, err := m.exclude(ctx)
	if err != nil {
		return "", err
	}
	defer x.release()
	entries, err := m.List(ctx)
	if err != nil {
		return "", err
	}
	var lost *Entry
	for i, e := range entries[1:] {
		if e.Path != "" && samePath(e.Path, p.Path) && vacant(e.Path) &&
			(ownedBy(e, p) || !e.Locked && e.Branch == p.Branch) {
			lost = &entries[i+1]
		}
	}
	if lost == nil {
		return "", nil
	}
	others := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.AdminDir == lost.AdminDir })
	if err := m.branchThere(ctx, p, lost.AdminDir); err != nil {
		return "", err
	}
	if _, err := m.check(ctx, []Plan{p}, others); err != nil {
		return "", err
	}
	ref, _, err := m.rescue(ctx, lost.AdminDir, p.Owner)
	if err != nil {
		return "", err
	}
	return ref, m.setAside(*lost, "")
}

// vacant reports whether a worktree's directory is gone or empty.
func vacant(path string) bool {
	content, err := os.ReadDir(path)
	return len(content) == 0 && (err == nil || !exists(path))
}

// branchThere refuses a branch that is gone, with the last commit it was seen at.
func (m Manager) branchThere(ctx context.Context, p Plan, admin string) error {
	found, err := m.Branches(ctx, []string{p.Branch})
	if err != nil || found[p.Branch] != "" {
		return err
	}
	hint := ""
	if last := lastHead(admin); last != "" {
		hint = fmt.Sprintf("git branch %s %s", p.Branch, last)
	}
	return conflict(p.Agent, hint, "branch %s: does not exist any more", p.Branch)
}

// LastHead returns the newest commit that HEAD of the worktree was at, by its
// log, also when its branch is gone. It is "" where git keeps no such log.
func (e Entry) LastHead() string { return lastHead(e.AdminDir) }

// lastHead is the newest commit in the log of a worktree's HEAD. A branch that
// was deleted from inside the worktree is there as a move to no commit.
func lastHead(admin string) string {
	lines := strings.Split(readLine(filepath.Join(admin, "logs", "HEAD")), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		fields := strings.Fields(lines[i])
		if len(fields) < 2 {
			continue
		}
		for _, oid := range []string{fields[1], fields[0]} {
			if isOID(oid) {
				return oid
			}
		}
	}
	return ""
}
