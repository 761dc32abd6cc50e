package main

import (
	"golang.org/x/sys/unix"
)

// allCloseOnExec returns false: macOS has no such system call.
func allCloseOnExec() bool { return false }

// The ioctl requests that read and set the modes of a terminal.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
