package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// clone makes a file in root that shares its blocks with from, if the file system can.
func clone(from *os.File, root *os.Root, name string) error {
	folder, err := root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer folder.Close()
	return unix.Fclonefileat(int(from.Fd()), int(folder.Fd()), path.Base(name), unix.CLONE_NOFOLLOW)
}

// create makes a new file in the worktree. If the file system can share blocks, the file is a
// complete clone with content, mode and times, and to is nil.
func (p *pair) create(from *os.File, name string, info fs.FileInfo) (to *os.File, shared bool, err error) {
	if !p.alone.Load() {
		err := clone(from, p.to, name)
		if err == nil {
			return nil, true, nil
		}
		p.alone.Store(errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EXDEV))
	}
	to, err = p.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	return to, false, err
}

// sharesBlocks reports, by trying, whether a copy of a file into a folder shares its blocks.
func sharesBlocks(file, folder string) bool {
	from, err := os.Open(file)
	if err != nil {
		return false
	}
	defer from.Close()
	to, err := os.MkdirTemp(folder, ".paw-*")
	if err != nil {
		return false
	}
	defer os.RemoveAll(to)
	root, err := os.OpenRoot(to)
	if err != nil {
		return false
	}
	defer root.Close()
	return clone(from, root, "clone") == nil
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
