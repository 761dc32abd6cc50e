package disk

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Exists reports whether anything is at path, a broken symlink included.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
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

// byBytes begins the JSON form of a file name that is not UTF-8, or that begins with byBytes
// itself: "base64:" and its bytes. encoding/json alone would silently write another name.
const byBytes = "base64:"

// encodedName returns the JSON form of a file name.
func encodedName(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, byBytes) {
		return name
	}
	return byBytes + base64.StdEncoding.EncodeToString([]byte(name))
}

// decodedName is the reverse of encodedName.
func decodedName(text string) (string, error) {
	encoded, ok := strings.CutPrefix(text, byBytes)
	if !ok {
		return text, nil
	}
	name, err := base64.StdEncoding.DecodeString(encoded)
	return string(name), err
}

// FileNames is a list of file names that JSON keeps byte for byte.
type FileNames []string

// MarshalJSON encodes each name that is not UTF-8.
func (names FileNames) MarshalJSON() ([]byte, error) {
	encoded := make([]string, len(names))
	for i, name := range names {
		encoded[i] = encodedName(name)
	}
	return json.Marshal(encoded)
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (names *FileNames) UnmarshalJSON(data []byte) error {
	var encoded []string
	if err := json.Unmarshal(data, &encoded); err != nil {
		return err
	}
	*names = nil
	for _, text := range encoded {
		name, err := decodedName(text)
		if err != nil {
			return err
		}
		*names = append(*names, name)
	}
	return nil
}
