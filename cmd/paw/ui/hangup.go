package ui

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// hangUpMillis is how often hungUp checks ctx while the terminal is there.
const hangUpMillis = 1000

// hungUp waits until the terminal behind input has gone, and returns false if ctx ends first or if
// input cannot be polled. SIGHUP goes to the leader of the terminal's session only, and su and sudo
// do not pass SIGHUP on; and a read from a terminal that has gone returns nothing, as if nobody
// typed.
func hungUp(ctx context.Context, input io.Reader) bool {
	file, ok := input.(interface{ Fd() uintptr })
	if !ok {
		return false
	}
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(file.Fd())}}
		_, err := unix.Poll(fds, hangUpMillis)
		switch {
		case err != nil && !errors.Is(err, unix.EINTR), fds[0].Revents&unix.POLLNVAL != 0:
			return false
		case fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0:
			return true
		}
	}
	return false
}
