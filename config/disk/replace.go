// Package disk locks files, reads small ones fast, and replaces a file so that a crash or a power
// loss leaves either the old content or the new.
package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// LitterAge is the age at which a temporary file counts as left behind by a killed process.
const LitterAge = time.Minute

// Replace writes data to path; after a crash or a power loss the file holds either the old content
// or the new, whole. A symlink is kept, and its target replaced. The caller holds the lock of the
// file.
func Replace(path string, data []byte) error {
	if err := ReplaceSoon(path, data); err != nil {
		return err
	}
	path, err := FollowLinks(path)
	if err != nil {
		return err
	}
	// renameio syncs the file only; a power loss could undo the rename.
	return SyncDir(filepath.Dir(path))
}

// ReplaceSoon replaces a file without waiting for the disk: after a power loss the old content may
// be back. ReplaceSoon is for content that can be computed again.
func ReplaceSoon(path string, data []byte) error {
	if err := MakeDir(filepath.Dir(path)); err != nil {
		return err
	}
	path, err := FollowLinks(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	removeLitter(path, LitterAge) // The caller's lock keeps other writers out; LitterAge protects a writer without the lock.
	// Without WithTempDir renameio prefers $TMPDIR, where nothing would remove the temporary files of
	// killed processes.
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		_ = f.Cleanup()
	}
	return err
}

// FollowLinks resolves all symlinks of a path. The file at the end need not exist.
func FollowLinks(path string) (string, error) {
	for range 40 { // Linux follows 40 symlinks, too.
		dir, base := filepath.Split(path) // not Dir or Join, which resolve a ".." before the symlink in front of it
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, base)
		to, err := os.Readlink(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.EINVAL) {
			return path, nil // path is missing, or no symlink
		}
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = dir + "/" + to
		}
		path = to
	}
	return "", fmt.Errorf("%s: %w", path, syscall.ELOOP)
}

// Litter lists the temporary files, at least age old, that killed processes left while replacing
// path; if path ends in a slash, the temporary files of every file in that folder.
func Litter(path string, age time.Duration) []string {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // Writing the file will report the same error.
	}
	var found []string
	for _, entry := range entries {
		name := strings.TrimRight(entry.Name(), "0123456789")
		if name == entry.Name() || !strings.HasPrefix(name, ".") || base != "" && name != "."+base || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()).Abs() >= age { // Abs: the clock may have been set back
			found = append(found, filepath.Join(dir, entry.Name()))
		}
	}
	return found
}

// RemoveLitter removes all temporary files of path. The caller has deleted path and holds its lock.
func RemoveLitter(path string) { removeLitter(path, 0) }

func removeLitter(path string, age time.Duration) {
	for _, left := range Litter(path, age) {
		_ = os.Remove(left)
	}
}

// JSON encodes a value for people to read: without escaping <, > and &, each level indented by
// indent, and with a newline at the end.
func JSON(value any, indent string) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return text.Bytes(), err
}
