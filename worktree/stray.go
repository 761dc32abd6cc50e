package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/config/disk"
	"paw/worktree/gitdir"
)

// Stray is a worktree of the repository that is not paw's.
type Stray struct {
	Name   string // its folder below worktrees in the common directory
	Path   string
	Inside bool // it lies in the worktree that was asked about
}

// Strays returns the worktrees that are not paw's and that lie in the worktree at path, or were made since a time. It reads
// files alone: git writes commondir once, when it makes the worktree.
func Strays(path, commonDir string, since time.Time) (all []Stray) {
	made, err := os.ReadDir(filepath.Join(commonDir, "worktrees"))
	if err != nil {
		return nil
	}
	for _, one := range made {
		stray, ok := StrayNamed(path, commonDir, one.Name())
		info, err := os.Stat(filepath.Join(commonDir, "worktrees", one.Name(), "commondir"))
		if ok && err == nil && (stray.Inside || !info.ModTime().Before(since)) {
			all = append(all, stray)
		}
	}
	return all
}

// StrayNamed returns the worktree of that name; false for the one at path, for one of paw's, and for one that is gone.
func StrayNamed(path, commonDir, name string) (Stray, bool) {
	e := readEntry(filepath.Join(commonDir, "worktrees", name), &gitdir.Refs{CommonDir: commonDir})
	if strings.HasPrefix(e.LockReason, ownerPrefix) || disk.Exists(checkMark(e.AdminDir)) || e.Prunable || disk.SamePath(e.Path, path) {
		return Stray{}, false
	}
	return Stray{Name: name, Path: e.Path, Inside: liesBelow(e.Path, path)}, true
}

// liesBelow reports whether a folder lies below another one.
func liesBelow(folder, top string) bool {
	return strings.HasPrefix(disk.Resolved(folder), disk.Resolved(top)+string(filepath.Separator))
}

// Outside returns a folder that is not in the worktree at path, or lies there in another worktree of the repository; ""
// for any other.
func Outside(folder, path, commonDir string) string {
	if folder == "" || folder == path || disk.SamePath(folder, path) {
		return ""
	}
	if !liesBelow(folder, path) {
		return folder
	}
	for at := disk.Resolved(folder); at != disk.Resolved(path); at = filepath.Dir(at) {
		if admin, err := gitdir.Target(filepath.Join(at, ".git")); err == nil && disk.SamePath(gitdir.Common(admin), commonDir) {
			return folder
		}
	}
	return ""
}
