package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
)

// quarantine is a folder for new objects beside the object store.
type quarantine struct{ objects, dir string }

// newQuarantine is one for objects that become part of the store once they are complete, as git itself does it for a
// push: a git that is killed in the middle of a large file leaves no half of it behind for weeks. Its name is one that
// `git prune` knows, should paw be killed as well.
func newQuarantine(commonDir string) (quarantine, error) {
	objects := filepath.Join(commonDir, "objects")
	dir, err := os.MkdirTemp(objects, "tmp_objdir-paw-")
	return quarantine{objects: objects, dir: dir}, err
}

// WithScratch returns m for commands that only read: every object that they make, snapshots included, goes into a folder outside of
// the repository, which drop removes. No ref can be made to lead there: git refuses to change refs from within a quarantine.
func (m Manager) WithScratch() (reader Manager, drop func(), err error) {
	m.scratch.objects = filepath.Join(m.Repository.CommonDir, "objects")
	if m.scratch.dir, err = os.MkdirTemp("", "paw"); err != nil {
		return m, func() {}, err
	}
	return m, m.scratch.drop, nil
}

// objects is repo with new objects in the quarantine of a reader.
func (m Manager) objects(repo git.Repo) git.Repo {
	if !m.reads() {
		return repo
	}
	return m.scratch.repo(repo)
}

// withoutRefs is objects, and has git refuse to change refs from within the quarantine: what they led to would go with it.
func (m Manager) withoutRefs(repo git.Repo) git.Repo {
	if m.reads() {
		repo = repo.WithEnv("GIT_QUARANTINE_PATH=" + m.scratch.dir)
	}
	return m.objects(repo)
}

// reads reports whether m leaves no object in the repository.
func (m Manager) reads() bool { return m.scratch.dir != "" }

// repo is r with new objects in the quarantine.
func (q quarantine) repo(r git.Repo) git.Repo {
	return r.WithEnv("GIT_OBJECT_DIRECTORY="+q.dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotedPath(q.objects))
}

// quotedPath protects a path with the separator of path lists in its name.
func quotedPath(path string) string {
	if !strings.ContainsAny(path, `:"`) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

func (q quarantine) drop() { _ = os.RemoveAll(q.dir) }

// release moves the objects to the others, the index of a pack after the pack.
func (q quarantine) release() error {
	var last []string
	err := filepath.WalkDir(q.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == q.dir {
			return err
		}
		name, err := filepath.Rel(q.dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return q.makeDir(name, d)
		case strings.HasPrefix(d.Name(), "tmp_"):
			return nil
		case strings.HasSuffix(name, ".idx"):
			last = append(last, name)
			return nil
		}
		return q.move(name)
	})
	for _, name := range last {
		err = errors.Join(err, q.move(name))
	}
	return err
}

func (q quarantine) makeDir(name string, d fs.DirEntry) error {
	target := filepath.Join(q.objects, name)
	if err := os.Mkdir(target, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	info, err := d.Info() // with the permissions of a shared repository
	if err != nil {
		return err
	}
	return os.Chmod(target, info.Mode())
}

func (q quarantine) move(name string) error {
	return os.Rename(filepath.Join(q.dir, name), filepath.Join(q.objects, name))
}
