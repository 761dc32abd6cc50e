package session

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB in <sys/proc.h>.
const zombie = 5

// BootID identifies this boot of the machine, "" if unknown. The boot time is only used without a
// boot session UUID, since setting the clock changes it.
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

// startedAt converts a start time in microseconds since 1970.
func startedAt(started uint64) time.Time { return time.UnixMicro(int64(started)).UTC() }

// ignoresHangUp reports whether a process ignores SIGHUP, the lowest bit of its ignored signals.
func ignoresHangUp(pid int) bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_sigignore&1 != 0
}

// ProgramName is not supported on macOS.
func ProgramName(int) string { return "" }

// LockHolders is not supported on macOS.
func LockHolders(string) []int { return nil }

// Listeners returns nothing: macOS tells listening processes only through another program.
func Listeners(_, _ int) map[int]int { return nil }
