package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"paw/config"
	"paw/orchestrator/errs"
	"paw/tmux"
	"paw/worktree/git"
)

// HintsOf returns the commands that help after an error: those that it has, and those that its cause is known for.
func HintsOf(err error) []string {
	if line := NewIndex(err); line != "" {
		return []string{line}
	}
	var hints []string
	if folder := FullDisk(err); folder != "" {
		hints = append(hints, "df -h "+errs.Quote(folder))
	}
	if line := LeftLocks(err); line != "" {
		hints = append(hints, line)
	}
	if hints = append(hints, errs.HintsOf(err)...); len(hints) > 0 {
		return hints
	}
	for _, line := range []string{freeSpace(err), RefusingHook(err), RefusingFilter(err), Trust(err)} {
		if line != "" {
			return []string{line}
		}
	}
	if c, ok := errors.AsType[*config.Error](err); ok && c.Hint() != "" {
		return []string{c.Hint()}
	}
	if _, ok := errors.AsType[*tmux.Error](err); ok {
		return []string{"paw doctor"}
	}
	return []string{}
}

// freeSpace returns a command that shows why a file could not be written, "" for other errors.
func freeSpace(err error) string {
	var file *fs.PathError
	failed, ok := errors.AsType[*git.Error](err)
	switch {
	case ok && failed.Said("': Permission denied"): // of a file
		return "ls -la " + errs.Quote(failed.Dir)
	case !errors.As(err, &file), file.Path == os.Stdout.Name(): // where that leads only the user knows
		return ""
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "df -h " + errs.Quote(Nearest(filepath.Dir(file.Path)))
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "ls -ld " + errs.Quote(Nearest(filepath.Dir(file.Path)))
	}
	return ""
}

// leastSpace is the least free space in bytes: enough for a record, or for a line of a log.
const leastSpace = 64 << 10

// Nearest returns a folder, or its nearest parent that exists.
func Nearest(folder string) string {
	for _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder); _, err = os.Stat(folder) {
		folder = filepath.Dir(folder)
	}
	return folder
}

// Full returns an error if the file system of a folder is full.
func Full(folder string) error {
	var space unix.Statfs_t
	if err := unix.Statfs(Nearest(folder), &space); err != nil {
		return nil //nolint:nilerr // nobody knows
	}
	free := space.Bavail * uint64(space.Bsize) //nolint:gosec // a size
	switch {
	case space.Blocks > 0 && free < leastSpace:
		return fmt.Errorf("%w (%d bytes are free)", unix.ENOSPC, free)
	case space.Files > 0 && space.Ffree == 0:
		return fmt.Errorf("%w (for another file)", unix.ENOSPC)
	}
	return nil
}

// FullDisk returns the folder of a git that failed because its disk is full, "" for another error.
// Often git says only that it could not write; then the free space decides.
func FullDisk(err error) string {
	failed, ok := errors.AsType[*git.Error](err)
	switch {
	case !ok:
		return ""
	case errors.Is(err, syscall.ENOSPC):
		return failed.Dir
	case slices.ContainsFunc([]string{"unable to write", "couldn't write"}, failed.Said) && Full(failed.Dir) != nil:
		return failed.Dir
	}
	return ""
}
