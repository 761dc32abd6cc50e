package worktree

import (
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// clone makes the file name in root as one that shares its blocks with from, where the file system can.
func clone(from *os.File, root *os.Root, name string) bool {
	folder, err := root.Open(path.Dir(name))
	if err != nil {
		return false
	}
	defer folder.Close()
	return unix.Fclonefileat(int(from.Fd()), int(folder.Fd()), path.Base(name), unix.CLONE_NOFOLLOW) == nil
}
