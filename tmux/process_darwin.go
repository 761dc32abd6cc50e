package tmux

import (
	"errors"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB in sys/proc.h.
const zombie = 5

// inspect asks the kernel for the name of a process. For a zombie the error is errNoProcess.
func inspect(pid int) (name string, err error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) { // the kernel's answer for an unused PID is empty
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

// parentOf returns the parent of a process, 0 if unknown.
func parentOf(pid int) int {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(k.Eproc.Ppid)
}

// HasRead returns true: it cannot be told.
func (p Program) HasRead() bool { return true }

// Hides returns false: it cannot be told.
func (p Program) Hides() bool { return false }

// ReadsLines returns false: it cannot be told.
func (p Program) ReadsLines() bool { return false }
