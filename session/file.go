package session

import (
	"errors"
	"os"

	"paw/config/disk"

	"golang.org/x/sys/unix"
)

var errNotRegular = errors.New("not a regular file")

// readRegular reads a file without blocking on a fifo that someone put in its place.
func readRegular(path string) ([]byte, error) { return readRegularInto(path, nil) }

// readRegularInto is readRegular in the space of buffer, where the content fits.
func readRegularInto(path string, buffer []byte) ([]byte, error) {
	fd, err := disk.OpenRaw(path, unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return nil, errors.Join(&os.PathError{Op: "stat", Path: path, Err: err}, unix.Close(fd))
	}
	if info.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.Join(errNotRegular, unix.Close(fd))
	}
	if int64(cap(buffer)) <= info.Size {
		buffer = make([]byte, 0, info.Size+512)
	}
	return disk.ReadRaw(fd, path, buffer)
}
