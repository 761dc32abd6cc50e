package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/gitdir"

	"golang.org/x/sys/unix"
)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// isFile reports whether something other than a folder is at path.
func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

// removeFile removes a file; a missing one is no error.
func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// samePath compares two paths after resolving symlinks.
func samePath(a, b string) bool {
	return filepath.Clean(a) == filepath.Clean(b) || resolved(a) == resolved(b)
}

// resolved resolves the symlinks in the longest existing part of a path, so that paths can be
// compared before they exist.
func resolved(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for at := path; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = parent
	}
}

func inside(name, folder, separator string) bool {
	return strings.HasPrefix(name, folder+separator)
}

// within reports whether path is below dir. Both are clean and absolute.
func within(path, dir string) bool {
	return inside(path, strings.TrimSuffix(dir, string(filepath.Separator)), string(filepath.Separator))
}

// sorted joins lists of paths, each path once.
func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// folders manages the folders above worktrees that paw has made, and that are removed with the last
// worktree in them. paw removes no other folder.
type folders struct{ Repository Repository }

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
