// Package disk locks files, reads small ones fast, and replaces a file so that a crash or a loss of
// power leaves the old content or the new.
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

// LitterAge is the age at which a temporary file counts as left behind by a killed process.
const LitterAge = time.Minute

// Replace writes data to path so that after a crash or a power loss the old content or the new is
// there, whole. A symlink stays a symlink, and its target is replaced. The caller holds the lock of
// the file.
func Replace(path string, data []byte) error { return ReplaceIf(path, data, nil) }

// ReplaceIf is Replace that calls check, unless it is nil, at the last moment, when the new content is on the disk beside
// the old one. With an error of check the file stays as it is.
func ReplaceIf(path string, data []byte, check func() error) error {
	if err := ReplaceSoonIf(path, data, check); err != nil {
		return err
	}
	path, err := FollowLinks(path)
	if err != nil {
		return err
	}
	// renameio syncs the file only; without this the rename itself may be lost with the power.
	return SyncDir(filepath.Dir(path))
}

// ReplaceSoon replaces a file without waiting for the disk: after a power loss the old content may
// be back. ReplaceSoon is for content that can be found out again.
func ReplaceSoon(path string, data []byte) error { return ReplaceSoonIf(path, data, nil) }

// ReplaceSoonIf is ReplaceSoon with a check like that of ReplaceIf.
func ReplaceSoonIf(path string, data []byte, check func() error) error {
	if err := MakeDir(filepath.Dir(path)); err != nil {
		return err
	}
	path, err := FollowLinks(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	sweepLitter(path)
	// Without WithTempDir renameio prefers $TMPDIR, where nothing would remove the temporary files of
	// killed processes.
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	err = place(f, path, data, check)
	if err != nil {
		_ = f.Cleanup()
	}
	return err
}

// place fills a temporary file and gives it the name path. CloseAtomicallyReplace would sync after the check, which is what
// takes longest.
func place(f *renameio.PendingFile, path string, data []byte, check func() error) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if check != nil {
		if err := check(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// FollowLinks returns the path that a chain of symlinks ends at, where a file need not exist yet.
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

// Litter lists the temporary files, at least age old, that killed processes have left while they
// replaced path, or any file of a folder where path ends in a slash.
func Litter(path string, age time.Duration) []string {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // writing will fail with the same error
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

// sweepLitter removes the temporary files that killed processes have left while they replaced path.
// The lock of the file keeps other writers out; LitterAge guards against a writer without the lock.
func sweepLitter(path string) { removeLitter(path, LitterAge) }

// RemoveLitter removes all temporary files of path, of any age. The caller has deleted the file at
// path and holds its lock.
func RemoveLitter(path string) { removeLitter(path, 0) }

func removeLitter(path string, age time.Duration) {
	for _, left := range Litter(path, age) {
		_ = os.Remove(left)
	}
}
