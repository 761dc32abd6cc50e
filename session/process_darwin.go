package session

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// BootID names this boot of the machine, "" when the system does not tell. The time of the boot is the second choice:
// setting the clock moves it.
func BootID() string {
	if id, err := unix.Sysctl("kern.bootsessionuuid"); err == nil && id != "" {
		return id
	}
	booted, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%06d", booted.Sec, booted.Usec)
}

func inspectProcess(pid int) (processFacts, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return processFacts{}, err
	}
	started := info.Proc.P_starttime
	return processFacts{
		started: uint64(started.Sec)*1_000_000 + uint64(started.Usec),
		dead:    info.Proc.P_stat == zombie,
	}, nil
}

// startedAt is when a process was started, by its start time in microseconds since 1970.
func startedAt(started uint64) time.Time { return time.UnixMicro(int64(started)).UTC() }

// ignoresHangUp reads the signals that a process ignores. SIGHUP is the first of them.
func ignoresHangUp(pid int) bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_sigignore&1 != 0
}

// ProgramName has no answer on this system.
func ProgramName(int) string { return "" }

// LockHolders has no answer on this system.
func LockHolders(string) []int { return nil }
