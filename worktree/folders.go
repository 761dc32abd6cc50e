package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/gitdir"

	"golang.org/x/sys/unix"
)

// folders manages the folders above worktrees that paw has made, and that are removed with the last
// worktree in them. paw removes no other folder.
type folders struct{ Repository gitdir.Repository }

// file returns the path of the list of these folders, one per line.
func (f folders) file() string { return filepath.Join(f.Repository.CommonDir, "paw", "folders") }

func (f folders) made() []string {
	return strings.Split(gitdir.Line(f.file()), "\n")
}

// make makes the missing folders above path. Each is listed before it is made, so that none is
// forgotten if paw is killed. The caller holds the repository lock.
func (f folders) make(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err == nil || dir == path {
		return err
	}
	if err := f.make(dir); err != nil {
		return err
	}
	if known := f.made(); !slices.Contains(known, dir) {
		if err := f.list(append(known, dir)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

func (f folders) list(all []string) error {
	if err := os.MkdirAll(filepath.Dir(f.file()), 0o777); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(dir string) bool { return dir == "" })
	temporary := f.file() + ".new"
	if err := os.WriteFile(temporary, []byte(strings.Join(all, "\n")+"\n"), 0o666); err != nil {
		return err
	}
	return os.Rename(temporary, f.file())
}

// drop removes the empty folders above path that paw has made. drop never removes a symlink, even
// to an empty folder. The caller holds the repository lock.
func (f folders) drop(path string) {
	known := f.made()
	left := slices.Clone(known)
	for dir := filepath.Dir(path); slices.Contains(known, dir); dir = filepath.Dir(dir) {
		if err := unix.Rmdir(dir); err != nil && !os.IsNotExist(err) {
			break
		}
		left = slices.DeleteFunc(left, func(other string) bool { return other == dir })
	}
	if len(left) < len(known) {
		_ = f.list(left) // A listed folder that is gone does no harm.
	}
}
