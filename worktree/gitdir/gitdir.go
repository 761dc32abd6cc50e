// Package gitdir reads the files of git directories without git, so that `paw status` starts no
// git: .git files, settings, and refs. Their formats are in gitrepository-layout(5), git-config(1)
// and git-pack-refs(1).
//
// Begin with Of, then Core, then Refs.
package gitdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"paw/config/disk"
)

// Of returns the git directory of a worktree: its .git directory, or the one that its .git file names.
func Of(top string) (string, bool) {
	dotGit := filepath.Join(top, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return "", false
	}
	target := dotGit
	if !info.IsDir() {
		if target, err = Target(dotGit); err != nil {
			return "", false
		}
	}
	real, err := filepath.EvalSymlinks(target)
	return real, err == nil && Is(real)
}

// Target returns the absolute path that a .git file points to.
func Target(path string) (string, error) {
	content, err := disk.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(string(content), "gitdir:")
	if !ok {
		return "", fmt.Errorf("%s: not a git file", path)
	}
	return AbsoluteFrom(filepath.Dir(path), strings.TrimLeft(strings.TrimRight(target, "\r\n"), " ")), nil
}

// Is applies git's own test: a HEAD, and refs and objects here or in the common directory.
func Is(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common := Common(dir)
	for _, name := range []string{"refs", "objects"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// Common returns the directory that all worktrees of a repository share.
func Common(gitDir string) string {
	content, err := disk.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil || len(content) == 0 {
		return gitDir
	}
	common := AbsoluteFrom(gitDir, strings.TrimRight(string(content), "\r\n"))
	if real, err := filepath.EvalSymlinks(common); err == nil {
		return real
	}
	return common
}

// AbsoluteFrom returns path as an absolute path; a relative one begins at dir.
func AbsoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Line returns the content of a one-line file, "" if it cannot be read.
func Line(path string) string {
	content, err := disk.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(content), "\r\n")
}
