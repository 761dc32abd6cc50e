package disk

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Map maps a file into memory, for as long as owner is reachable. The file has to be one that is
// replaced as a whole and never changed in place, such as git's packed-refs, which git maps as well.
// Of a large file only the pages are read that are looked at.
func Map[T any](path string, owner *T) ([]byte, error) {
	fd, err := OpenRaw(path, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || info.Size == 0 { // an empty file cannot be mapped
		return nil, err
	}
	content, err := unix.Mmap(fd, 0, int(info.Size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	runtime.AddCleanup(owner, func(mapped []byte) { _ = unix.Munmap(mapped) }, content)
	return content, nil
}
