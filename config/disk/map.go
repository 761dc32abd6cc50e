package disk

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Map is the content of a file that is replaced as a whole and never changed, such as git's packed-refs, which git reads in this
// way, too. Nothing is copied of a large file of which few lines are looked at. The content lasts as long as its owner.
func Map[T any](path string, owner *T) ([]byte, error) {
	fd, err := OpenRaw(path, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || info.Size == 0 { // which cannot be mapped
		return nil, err
	}
	content, err := unix.Mmap(fd, 0, int(info.Size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	runtime.AddCleanup(owner, func(mapped []byte) { _ = unix.Munmap(mapped) }, content)
	return content, nil
}
