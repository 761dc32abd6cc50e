package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Where the system cannot mark all open files close-on-exec at once, each file is marked alone.
func TestEachInheritedFileIsMarked(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	eachCloseOnExec()
	for _, fd := range ends {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("file %d has flags %#x, %v", fd, flags, err)
		}
	}
}
