package main

import "golang.org/x/sys/unix"

// peer returns the process at the other end of a connection.
func peer(fd int) (pid int, err error) {
	who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(who.Pid), nil
}
