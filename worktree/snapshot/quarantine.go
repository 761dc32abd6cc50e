package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
	"paw/worktree/objects"
)

// quarantine is a folder for new objects next to the object store.
type quarantine struct{ objects, dir string }

// newQuarantine makes a quarantine for objects that are moved to the store once complete, as git
// does for a push: a git killed while it writes a large file leaves nothing there for weeks. If paw
// is killed as well, `git prune` removes the folder by its name.
func newQuarantine(commonDir string) (quarantine, error) {
	store := filepath.Join(commonDir, "objects")
	dir, err := os.MkdirTemp(store, "tmp_objdir-paw-")
	return quarantine{objects: store, dir: dir}, err
}

// Repo returns r with new objects in the quarantine.
func (q quarantine) Repo(r git.Repo) git.Repo {
	return objects.WritingTo(r, q.dir, q.objects)
}

func (q quarantine) Drop() { _ = os.RemoveAll(q.dir) }

// Release moves the objects into the store; the index file of a pack follows its pack.
func (q quarantine) Release() error {
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
	info, err := d.Info() // The permissions are those of a shared repository.
	if err != nil {
		return err
	}
	return os.Chmod(target, info.Mode())
}

func (q quarantine) move(name string) error {
	return os.Rename(filepath.Join(q.dir, name), filepath.Join(q.objects, name))
}
