// Package disk changes files so that a crash or a loss of power leaves the old state or the new one, and locks them.
package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// LitterAge is how old a temporary file must be before it counts as left behind by a process that was killed.
const LitterAge = time.Minute

// Replace writes data to path so that after a crash or a power loss the old content or the new is there, whole. A
// symlink stays one and its target is replaced. The caller holds the lock of the file.
func Replace(path string, data []byte) error {
	if err := ReplaceSoon(path, data); err != nil {
		return err
	}
	path, err := FollowLinks(path)
	if err != nil {
		return err
	}
	// renameio syncs the file only; without this the rename itself may be lost with the power.
	return SyncDir(filepath.Dir(path))
}

// ReplaceSoon is Replace for what can be found out again: after a power loss the old content may be there although it was
// replaced. Nobody waits until the disk knows which.
func ReplaceSoon(path string, data []byte) error {
	if err := MakeDir(filepath.Dir(path)); err != nil {
		return err
	}
	path, err := FollowLinks(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	sweepLitter(path)
	// Without WithTempDir renameio prefers $TMPDIR, where nothing would ever sweep what a killed process leaves.
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer f.Cleanup() // does nothing after a success
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// FollowLinks returns the file a chain of symlinks ends at, which need not exist yet.
func FollowLinks(path string) (string, error) {
	for range 40 { // as many as Linux follows
		dir, base := filepath.Split(path) // not Dir or Join: they resolve a ".." before the link in front of it
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, base)
		to, err := os.Readlink(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.EINVAL) {
			return path, nil // nothing there, or no link
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

// Litter lists the temporary files in a folder that saves left which were killed: those of one file, or of all where path ends in
// a slash.
func Litter(path string, age time.Duration) []string {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the save itself will say so
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

// sweepLitter removes the temporary files that killed saves of path left: renameio's pattern for this very file and
// nothing else. The lock already keeps writers out; the age guards against one that does not know the lock.
func sweepLitter(path string) { removeLitter(path, LitterAge) }

// RemoveLitter is for whoever deletes the file and holds its lock: nobody saves it any more.
func RemoveLitter(path string) { removeLitter(path, 0) }

func removeLitter(path string, age time.Duration) {
	for _, left := range Litter(path, age) {
		_ = os.Remove(left)
	}
}
