package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Lock does what flock(2) does with that descriptor and those flags, until no signal comes in between.
func Lock(fd uintptr, how int) error {
	for {
		if err := unix.Flock(int(fd), how); err != unix.EINTR {
			return err
		}
	}
}

// TryLock takes a lock of its own on an open file and reports whether it has: a lock of somebody else is no error.
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
