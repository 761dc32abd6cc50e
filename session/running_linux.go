package session

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of the start times of processes; USER_HZ is 100 on every platform of Go.
const tick = 10 * time.Millisecond

// RanBefore reports whether a program of this name runs, other than as a child of paw, that has begun before a
// time. Where the processes are not known it is true.
func RanBefore(program string, at time.Time) bool {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return true
	}
	booted := time.Now().Add(-time.Duration(up.Nano()))
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, one := range processes {
		pid, err := strconv.Atoi(filepath.Base(one))
		if err != nil || ProgramName(pid) != program {
			continue
		}
		stat, err := readStat(strconv.Itoa(pid))
		if err != nil {
			continue
		}
		facts, err := parseStat(stat)
		if fields := statFields(stat, 2); err == nil && !facts.dead && fields[1] != strconv.Itoa(os.Getpid()) && booted.Add(time.Duration(facts.started)*tick).Before(at) {
			return true
		}
	}
	return false
}
