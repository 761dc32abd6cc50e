package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Open opens a file for reading as os.Open does, and does not wait for the writer of a FIFO.
func Open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// ReadFile reads a file as os.ReadFile does, and does not wait for the writer of a FIFO.
func ReadFile(path string) ([]byte, error) {
	fd, err := open(path)
	if err != nil {
		return nil, err
	}
	return readAll(fd, path)
}

// ReadRegular is ReadFile with the errors of OpenRegular.
func ReadRegular(path string) ([]byte, error) {
	fd, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	return readAll(fd, path)
}

// readAll reads a descriptor to its end, and closes it.
func readAll(fd int, path string) ([]byte, error) {
	defer unix.Close(fd)
	content := make([]byte, 0, 512)
	for {
		n, err := retried(func() (int, error) { return unix.Read(fd, content[len(content):cap(content)]) })
		switch {
		case err != nil:
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return content, nil
		}
		if content = content[:len(content)+n]; len(content) == cap(content) {
			var info unix.Stat_t // a file of /proc has the size 0
			_ = unix.Fstat(fd, &info)
			content = slices.Grow(content, max(int(info.Size)-len(content), 0)+512)
		}
	}
}

// ErrNotRegular means that something other than a regular file is at a path.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a regular file for reading and returns its descriptor. The error is
// ErrNotRegular if something else is at path; a FIFO does not block.
func OpenRegular(path string) (fd int, err error) {
	if fd, err = open(path); err != nil {
		return -1, err
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return -1, &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return fd, nil
}

// open opens a file for reading without an os.File, whose finalizer and poller cost more than the
// read of a short file.
func open(path string) (fd int, err error) {
	fd, err = retried(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0) })
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// ReadAt reads a descriptor from offset once. At the end of the file, n is 0.
func ReadAt(fd int, p []byte, offset int64) (n int, err error) {
	n, err = retried(func() (int, error) { return unix.Pread(fd, p, offset) })
	return max(n, 0), err
}

// retried calls f until no signal interrupts it.
func retried(f func() (int, error)) (n int, err error) {
	for n, err = f(); errors.Is(err, unix.EINTR); n, err = f() {
	}
	return n, err
}

// Lock calls flock(2), and retries after a signal.
func Lock(fd uintptr, how int) error {
	_, err := retried(func() (int, error) { return 0, unix.Flock(int(fd), how) })
	return err
}

// TryLock reports whether it could lock an open file exclusively; a lock that another process holds
// is no error.
func TryLock(f *os.File) (locked bool, err error) {
	err = Lock(f.Fd(), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
	return true, nil
}

// MakeDir makes a directory of mode 0700 and its parents, and syncs each parent.
func MakeDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s: %w", dir, syscall.ENOTDIR)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := MakeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return SyncDir(parent)
}

// SyncDir flushes renames and removals in dir to the disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return Sync(d)
}

// Sync flushes a file to the disk, and ignores file systems that cannot do so.
func Sync(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
