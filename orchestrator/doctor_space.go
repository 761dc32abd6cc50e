package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
)

// leastSpace is what paw writes at once at the least: a record, or a line of a log.
const leastSpace = 64 << 10

// writable looks whether the folders that every change needs can be written or made, and have room. It makes none.
func writable(h *app.App) error {
	folders := []string{h.Paths.SessionsDir, h.Paths.LocksDir(), h.Paths.LaunchDir()}
	folder, err := app.Unwritable(folders...)
	for i := 0; err == nil && i < len(folders); i++ {
		folder, err = folders[i], full(folders[i])
	}
	if err != nil {
		return errs.New(errs.Failed, "%s: cannot be written: %w", folder, err).Hint("df -h %s", errs.Quote(nearest(folder))).Hint("ls -ld %s", errs.Quote(nearest(folder)))
	}
	return nil
}

// nearest is a folder, or the first above it that is there.
func nearest(folder string) string {
	for _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder); _, err = os.Stat(folder) {
		folder = filepath.Dir(folder)
	}
	return folder
}

// full is why nothing more can be written to the file system of a folder, nil where there is room or nobody knows.
func full(folder string) error {
	var space unix.Statfs_t
	if err := unix.Statfs(nearest(folder), &space); err != nil {
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
