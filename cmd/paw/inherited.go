package main

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeOnExec keeps the files that paw has inherited from the programs that paw starts. If an agent
// runs paw, one of these files is the agent's lock, which a daemon started by a set-up command or a
// git hook would keep. A tmux server would keep all files of the paw that started it.
func closeOnExec() {
	if !allCloseOnExec() {
		eachCloseOnExec()
	}
}

// eachCloseOnExec marks open files one by one, for systems that cannot mark all of them at once.
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
