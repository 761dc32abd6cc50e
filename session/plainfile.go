package session

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// openRaw opens a file for reading. os.Open would offer it to the runtime's poller, which declines: five system calls for
// each of the many small files that a look at all agents and all sessions takes.
func openRaw(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return fd, nil
	}
}

// readRaw reads an open file that does not block, of about that size, and closes it.
func readRaw(fd int, path string, size int64) ([]byte, error) {
	defer func() { _ = unix.Close(fd) }()
	content := make([]byte, 0, size+512)
	for {
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
		n, err := unix.Read(fd, content[len(content):cap(content)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return content, nil
		}
		content = content[:len(content)+n]
	}
}

// rawFile reads an open file that does not block.
type rawFile int

// ReadAt is that of io.ReaderAt, but for the path in an error.
func (fd rawFile) ReadAt(p []byte, at int64) (int, error) {
	for {
		n, err := unix.Pread(int(fd), p, at)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n < len(p):
			return n, io.EOF
		default:
			return n, nil
		}
	}
}
