package ui

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// hangUpMillis is how often somebody who waits for the end of a terminal looks whether that is still of interest.
const hangUpMillis = 1000

// hungUp waits until the terminal behind input has gone, and is false when ctx ends before, or nothing can tell. The signal
// of that end goes to the leader of the terminal's session alone, and su and sudo do not pass it on; who reads from such a
// terminal finds nothing, as if nobody typed.
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
