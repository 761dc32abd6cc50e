package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Nested tells whether the process pid, a descendant of the holder, was started
// by a second run of the same program below it: an agent that runs its own CLI
// once more hands paw's environment on to it.
func (h Holder) Nested(program string, pid int) bool {
	seen := 0
	for range 64 { // deeper than any real chain; a race cannot make it endless
		if pid <= 1 {
			return false // not a descendant: nothing is known
		}
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && filepath.Base(exe) == program {
			seen++
		}
		if pid == h.PID {
			return seen > 1
		}
		stat, err := readStat(strconv.Itoa(pid))
		if err != nil {
			return false
		}
		fields := statFields(stat, 2)
		if len(fields) < 2 {
			return false
		}
		pid, _ = strconv.Atoi(fields[1])
	}
	return false
}
