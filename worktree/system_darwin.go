package worktree

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// copyFlags make cp copy folders, with modes, times and links, and share blocks.
var copyFlags = []string{"-a", "-c"}

// sharesBlocks reports, by trying, whether a copy of a file into a folder shares its blocks.
func sharesBlocks(file, folder string) bool {
	to, err := os.MkdirTemp(folder, ".paw-*")
	if err != nil {
		return false
	}
	defer os.RemoveAll(to)
	return unix.Clonefile(file, filepath.Join(to, "clone"), unix.CLONE_NOFOLLOW) == nil
}

// mountPoints lists where file systems are mounted.
func mountPoints() ([]string, error) {
	n, err := unix.Getfsstat(nil, unix.MNT_NOWAIT)
	if err != nil {
		return nil, err
	}
	table := make([]unix.Statfs_t, n+16) // more may be mounted meanwhile
	if n, err = unix.Getfsstat(table, unix.MNT_NOWAIT); err != nil {
		return nil, err
	}
	points := make([]string, n)
	for i := range points {
		points[i] = unix.ByteSliceToString(table[i].Mntonname[:])
	}
	return points, nil
}
