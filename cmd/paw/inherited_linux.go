package main

import (
	"math"

	"golang.org/x/sys/unix"
)

// allCloseOnExec marks every open file but the first three, and reports whether the kernel knows how to: Linux 5.11 does.
func allCloseOnExec() bool {
	return unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil
}

// The calls that read and set how a terminal works.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)
