package tmux

import (
	"errors"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// inspect asks the kernel for the name of a process; a zombie is no process.
func inspect(pid int) (name string, err error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) { // the answer for a number that no process has is empty
		return "", errNoProcess
	}
	if err != nil {
		return "", err
	}
	if k.Proc.P_stat == zombie {
		return "", errNoProcess
	}
	return unix.ByteSliceToString(k.Proc.P_comm[:]), nil
}
