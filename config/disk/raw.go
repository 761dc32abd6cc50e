package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReadFile reads a file as os.ReadFile does, in four system calls instead of eleven for a small
// file: os.Open offers each file to the runtime's poller, which declines files on a disk.
func ReadFile(path string) ([]byte, error) {
	content, _, err := ReadSeen(path)
	return content, err
}

// ReadSeen is ReadFile that also returns what fstat(2) said before the read.
func ReadSeen(path string) (content []byte, seen unix.Stat_t, err error) {
	fd, err := OpenRaw(path, 0)
	if err != nil {
		return nil, seen, err
	}
	_ = unix.Fstat(fd, &seen) // Its size is a hint for the buffer.
	content, err = readRaw(fd, path, make([]byte, 0, seen.Size+512), seen)
	return content, seen, err
}

// OpenRaw opens a file for reading as a plain descriptor, with close-on-exec. A FIFO is not waited
// for.
func OpenRaw(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|flags, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return fd, nil
	}
}

// RawFile is the plain descriptor of a file that does not block. Errors of its methods name no path.
type RawFile int

// Read implements io.Reader.
func (fd RawFile) Read(p []byte) (int, error) {
	n, err := ignoringSignals(func() (int, error) { return unix.Read(int(fd), p) })
	if err == nil && n == 0 && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (fd RawFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := ignoringSignals(func() (int, error) { return unix.Pread(int(fd), p, at) })
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Close closes the file.
func (fd RawFile) Close() { _ = unix.Close(int(fd)) }

// ignoringSignals repeats a read that a signal has interrupted.
func ignoringSignals(read func() (int, error)) (int, error) {
	for {
		n, err := read()
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// ReadRaw reads and closes an open file that does not block. The result uses buffer's memory if the
// content fits.
func ReadRaw(fd int, path string, buffer []byte) ([]byte, error) {
	return readRaw(fd, path, buffer, unix.Stat_t{})
}

// readRaw is ReadRaw that takes a regular file to end where seen, from before the read, says that
// it ends.
func readRaw(fd int, path string, buffer []byte, seen unix.Stat_t) ([]byte, error) {
	size := -1
	if seen.Mode&unix.S_IFMT == unix.S_IFREG && seen.Size > 0 { // files of /proc have no size
		size = int(seen.Size)
	}
	file := RawFile(fd)
	defer file.Close()
	content := buffer[:0]
	for {
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
		n, err := file.Read(content[len(content):cap(content)])
		if errors.Is(err, io.EOF) {
			return content, nil
		}
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if content = content[:len(content)+n]; len(content) == size {
			return content, nil
		}
	}
}

// Names returns the names in an open directory, unsorted.
func Names(fd int) (names []string, err error) {
	var entries [8 << 10]byte
	for {
		n, err := unix.ReadDirent(fd, entries[:])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n == 0:
			return names, err
		default:
			_, _, names = unix.ParseDirent(entries[:n], -1, names)
		}
	}
}

// Lock calls flock(2), and retries after a signal.
func Lock(fd uintptr, how int) error {
	for {
		if err := unix.Flock(int(fd), how); err != unix.EINTR {
			return err
		}
	}
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
