package disk

import (
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

// TryLock takes a lock of its own on an open file, unless somebody has one.
func TryLock(f *os.File) bool { return Lock(f.Fd(), unix.LOCK_EX|unix.LOCK_NB) == nil }
