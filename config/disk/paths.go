package disk

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Exists reports whether anything is at path, a broken symlink included.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// IsFile reports whether something other than a folder is at path.
func IsFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

// RemoveFile removes a file; a missing one is no error.
func RemoveFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// SamePath compares two paths after resolving symlinks.
func SamePath(a, b string) bool {
	return filepath.Clean(a) == filepath.Clean(b) || Resolved(a) == Resolved(b)
}

// Resolved resolves the symlinks in the longest existing part of a path, so that paths can be
// compared before they exist.
func Resolved(path string) string {
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

// Inside reports whether a name begins with that of a folder and a separator.
func Inside(name, folder, separator string) bool {
	return strings.HasPrefix(name, folder+separator)
}

// Within reports whether path is below dir. Both are clean and absolute.
func Within(path, dir string) bool {
	return Inside(path, strings.TrimSuffix(dir, string(filepath.Separator)), string(filepath.Separator))
}

// SortedPaths joins lists of paths, each path once.
func SortedPaths(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// CopyFile copies a file with its modification time.
func CopyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	if err := target.Close(); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// AppendFacts appends a name and numbers to a text to be hashed.
func AppendFacts(to []byte, name string, known ...int64) []byte {
	to = append(append(to, name...), 0)
	for _, fact := range known {
		to = binary.LittleEndian.AppendUint64(to, uint64(fact))
	}
	return to
}
