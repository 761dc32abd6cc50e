package tmux

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// inspect asks the kernel; a zombie is no process.
func inspect(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) { // the answer for a number that no process has is empty
		return process{}, errNoProcess
	}
	if err != nil {
		return process{}, err
	}
	if k.Proc.P_stat == zombie {
		return process{}, errNoProcess
	}
	start := k.Proc.P_starttime
	return process{name: unix.ByteSliceToString(k.Proc.P_comm[:]), started: time.Unix(start.Sec, 0)}, nil
}
