package session

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// RanBefore reports whether a program of this name runs, other than as a child of paw, that has begun before a
// time. Where the processes are not known it is true.
func RanBefore(program string, at time.Time) bool {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	for _, info := range all {
		started := info.Proc.P_starttime
		if unix.ByteSliceToString(info.Proc.P_comm[:]) == program && info.Proc.P_stat != zombie && int(info.Eproc.Ppid) != os.Getpid() &&
			time.Unix(started.Sec, int64(started.Usec)*1000).Before(at) {
			return true
		}
	}
	return err != nil
}
