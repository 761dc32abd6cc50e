package worktree

import "golang.org/x/sys/unix"

// mountPoints lists where file systems are mounted.
func mountPoints() ([]string, error) {
	n, err := unix.Getfsstat(nil, unix.MNT_NOWAIT)
	if err != nil {
		return nil, err
	}
	table := make([]unix.Statfs_t, n+16) // some may be mounted in between
	if n, err = unix.Getfsstat(table, unix.MNT_NOWAIT); err != nil {
		return nil, err
	}
	points := make([]string, n)
	for i := range points {
		points[i] = unix.ByteSliceToString(table[i].Mntonname[:])
	}
	return points, nil
}
