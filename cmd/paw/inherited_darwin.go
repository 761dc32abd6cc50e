package main

import (
	"golang.org/x/sys/unix"
)

// allCloseOnExec reports that macOS has no such call.
func allCloseOnExec() bool { return false }

// The calls that read and set how a terminal works.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
