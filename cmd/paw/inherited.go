package main

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeOnExec keeps the files that this paw has inherited from the programs that it
// starts. A paw that an agent runs has the agent's lock, which a daemon of a set-up
// command or of a git hook would hold on to, and a tmux server would keep whatever
// its first paw was given for as long as it lives.
func closeOnExec() {
	if !allCloseOnExec() {
		eachCloseOnExec()
	}
}

// eachCloseOnExec asks for each open file, where the system cannot mark all of them at once.
func eachCloseOnExec() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(filepath.Base(entry.Name())); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
