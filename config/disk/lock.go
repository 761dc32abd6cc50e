package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Lock calls flock(2), and calls it again when a signal has interrupted it.
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
