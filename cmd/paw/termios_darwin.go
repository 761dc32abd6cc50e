package main

import "golang.org/x/sys/unix"

// The calls that read and set how a terminal works.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
