package main

import "golang.org/x/sys/unix"

// peer returns the process at the other end of a connection.
func peer(fd int) (pid int, err error) {
	return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
}
