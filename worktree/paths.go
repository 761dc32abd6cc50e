package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"paw/config/disk"
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

// removeFile removes a file; one that is not there is no error.
func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// samePath compares two paths after resolving symbolic links.
func samePath(a, b string) bool {
	return filepath.Clean(a) == filepath.Clean(b) || resolved(a) == resolved(b)
}

// resolved is path with the links of its longest existing part resolved, so
// that it also compares paths that are yet to be made.
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

// readLine is the content of a one-line file, "" when there is none.
func readLine(path string) string {
	content, err := disk.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(content), "\r\n")
}

func inside(name, folder, separator string) bool {
	return strings.HasPrefix(name, folder+separator)
}

// within reports whether path lies below dir; both are clean and absolute.
func within(path, dir string) bool {
	return inside(path, strings.TrimSuffix(dir, string(filepath.Separator)), string(filepath.Separator))
}

// sorted joins lists of paths, each once.
func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// folders are those above worktrees that paw has made: they go with the last worktree in them, and no other folder does.
type folders struct{ Repository Repository }

// file lists the folders, one in each line.
func (f folders) file() string { return filepath.Join(f.Repository.CommonDir, "paw", "folders") }

func (f folders) made() []string {
	return strings.Split(readLine(f.file()), "\n")
}

// make makes the folders above path that are missing. Each one is listed
// before it is made, so that none is forgotten when paw is killed. The caller
// holds the repository lock.
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

// drop removes the folders above path that paw has made and in which
// nothing is left. It never unlinks a symbolic link, however empty the folder
// behind it is. The caller holds the repository lock.
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
		_ = f.list(left) // a folder that is listed and gone does no harm
	}
}
