package worktree

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// imprint stands for everything that lies below a directory at one moment, its own
// name left out. It is another one when any file or folder in it was written,
// added, removed or renamed in between: no program can set the time of the last
// change of an inode.
func imprint(dir string) ([sha256.Size]byte, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return fmt.Errorf("%s: its times cannot be read", path)
		}
		mtime, ctime := statTimes(stat)
		if path == dir { // its rename is a change of its inode
			_, err = fmt.Fprintln(sum, mtime.UnixNano())
			return err
		}
		_, err = fmt.Fprintln(sum, path[len(dir):], info.Mode(), info.Size(), mtime.UnixNano(), ctime.UnixNano())
		return err
	})
	return [sha256.Size]byte(sum.Sum(nil)), err
}
