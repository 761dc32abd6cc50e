package standby

import "golang.org/x/sys/unix"

// The ioctl requests that read and set the modes of a terminal.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)
