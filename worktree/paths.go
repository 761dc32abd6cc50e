package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
