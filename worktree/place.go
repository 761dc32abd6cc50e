package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkPlace refuses a path that `git worktree add` would refuse, which it does
// too late: by then the branch exists. mine says that a registration of the same
// plan exists; then the directory may be its remains.
func checkPlace(p Plan, mine bool) error {
	info, err := os.Lstat(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParent(p)
	case errors.Is(err, syscall.ENOTDIR):
		return conflict(p.Agent, "", "worktree path %s: a file is where a folder should be", p.Path)
	case err != nil:
		return conflict(p.Agent, "", "worktree path %s: %v", p.Path, errors.Unwrap(err))
	case info.Mode()&fs.ModeSymlink != 0:
		if info, err = os.Stat(p.Path); err != nil {
			return conflict(p.Agent, "", "worktree path %s: a symbolic link to nothing", p.Path)
		}
	}
	if !info.IsDir() {
		return conflict(p.Agent, "", "worktree path %s: a file is in the way", p.Path)
	}
	content, err := os.ReadDir(p.Path)
	if err != nil {
		return conflict(p.Agent, "", "worktree path %s: %v", p.Path, errors.Unwrap(err))
	}
	if len(content) == 0 || mine && (hasGitFile(p.Path) || barelyBegun(p.Path)) {
		return nil
	}
	return conflict(p.Agent, "ls -la "+quote(p.Path), "worktree path %s: exists and is not empty", p.Path)
}

func hasGitFile(dir string) bool {
	_, err := readGitFile(filepath.Join(dir, ".git"))
	return err == nil
}

// checkParent looks at the nearest folder that exists.
func checkParent(p Plan) error {
	for at := filepath.Dir(p.Path); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return conflict(p.Agent, "", "worktree path %s: %s is not a folder", p.Path, at)
		}
		if err == nil {
			return nil
		}
		if _, linkErr := os.Lstat(at); linkErr == nil {
			return conflict(p.Agent, "", "worktree path %s: %s is a symbolic link to nothing", p.Path, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}
