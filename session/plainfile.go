package session

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

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
