package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"paw/config/disk"
)

// Repository is a git repository as seen from one directory. All paths are
// absolute with symbolic links resolved.
type Repository struct {
	Path      string // main worktree; "" when bare or when its place cannot be known
	CommonDir string // the directory all worktrees share, usually <Path>/.git
	Worktree  string // toplevel of the worktree that contains the directory; "" inside a git directory
	GitDir    string // of that worktree
	Bare      bool
}

// Discover finds the repository that contains dir, as git does but without
// starting it and without regard to GIT_DIR and its like. A submodule is a
// repository of its own. The error is ErrNotRepository when there is none.
func Discover(dir string) (Repository, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Repository{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return Repository{}, fmt.Errorf("%s: %w", dir, errors.Unwrap(err))
	}
	for at := real; ; at = filepath.Dir(at) {
		if gitDir, ok := gitDirOf(at); ok {
			return repositoryAt(at, gitDir)
		}
		if isGitDir(at) {
			return repositoryAt("", at)
		}
		if at == filepath.Dir(at) {
			return Repository{}, fmt.Errorf("%s: %w", dir, ErrNotRepository)
		}
	}
}

// gitDirOf resolves the .git directory or file of a worktree.
func gitDirOf(top string) (string, bool) {
	dotGit := filepath.Join(top, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return "", false
	}
	target := dotGit
	if !info.IsDir() {
		if target, err = readGitFile(dotGit); err != nil {
			return "", false
		}
	}
	real, err := filepath.EvalSymlinks(target)
	return real, err == nil && isGitDir(real)
}

// readGitFile returns the absolute path that a .git file points to.
func readGitFile(path string) (string, error) {
	content, err := disk.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(string(content), "gitdir:")
	if !ok {
		return "", fmt.Errorf("%s: not a git file", path)
	}
	return absoluteFrom(filepath.Dir(path), strings.TrimLeft(strings.TrimRight(target, "\r\n"), " ")), nil
}

// isGitDir applies git's own test: a HEAD, and refs and objects here or in the
// common directory.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common := commonDirOf(dir)
	for _, name := range []string{"refs", "objects"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

func commonDirOf(gitDir string) string {
	content, err := disk.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil || len(content) == 0 {
		return gitDir
	}
	common := absoluteFrom(gitDir, strings.TrimRight(string(content), "\r\n"))
	if real, err := filepath.EvalSymlinks(common); err == nil {
		return real
	}
	return common
}

func repositoryAt(top, gitDir string) (Repository, error) {
	r := Repository{CommonDir: commonDirOf(gitDir), Worktree: top, GitDir: gitDir}
	cfg, err := readCore(r.CommonDir)
	if err != nil {
		return Repository{}, err
	}
	r.Bare = cfg.isBare(r.CommonDir)
	switch {
	case r.Bare:
		if gitDir == r.CommonDir {
			r.Worktree = ""
		}
	case cfg.worktree != "":
		r.Path = cfg.worktree
	case filepath.Base(r.CommonDir) == ".git":
		r.Path = filepath.Dir(r.CommonDir)
	case gitDir == r.CommonDir:
		r.Path = top
	}
	return r, nil
}

func absoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
