package gitdir

import (
	"errors"
	"fmt"
	"path/filepath"

	"paw/config/disk"
)

// ErrNotRepository says that a directory is in no git repository.
var ErrNotRepository = errors.New("not a git repository")

// Repository is a git repository as seen from one directory. All paths are absolute, with symlinks
// resolved.
type Repository struct {
	Path      string // main worktree; "" if bare, or if its place is unknown
	CommonDir string // directory that all worktrees share, usually <Path>/.git
	Worktree  string // top level of the worktree around the directory; "" inside a git directory
	GitDir    string // git directory of that worktree
	Bare      bool
}

// Discover finds the repository that contains dir, like git, but without starting git and ignoring
// GIT_DIR and the like. A submodule is a repository of its own. The error is ErrNotRepository if
// there is none.
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
		if gitDir, ok := Of(at); ok {
			return repositoryAt(at, gitDir)
		}
		if Is(at) {
			return repositoryAt("", at)
		}
		if at == filepath.Dir(at) {
			return Repository{}, fmt.Errorf("%s: %w", dir, ErrNotRepository)
		}
	}
}

func repositoryAt(top, gitDir string) (Repository, error) {
	r := Repository{CommonDir: Common(gitDir), Worktree: top, GitDir: gitDir}
	cfg, err := ReadCore(r.CommonDir)
	if err != nil {
		return Repository{}, err
	}
	r.Bare = cfg.IsBare(r.CommonDir)
	switch {
	case r.Bare:
		if gitDir == r.CommonDir {
			r.Worktree = ""
		}
	case cfg.Worktree != "":
		r.Path = disk.Resolved(cfg.Worktree)
	case filepath.Base(r.CommonDir) == ".git":
		r.Path = filepath.Dir(r.CommonDir)
	case gitDir == r.CommonDir:
		r.Path = top
	}
	return r, nil
}
