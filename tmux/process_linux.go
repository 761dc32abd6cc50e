package tmux

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticksPerSecond is sysconf(_SC_CLK_TCK), which is 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// exiting is PF_EXITING of the kernel (include/linux/sched.h).
const exiting = 0x4

// inspect reads /proc; a zombie is no process. See proc(5).
func inspect(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return process{}, errNoProcess
	}
	if err != nil {
		return process{}, err
	}
	// "pid (name) state ...": the name may hold anything.
	open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
	if open < 0 || end < open {
		return process{}, fmt.Errorf("/proc/%d/stat is not understood", pid)
	}
	name := string(text[open+1 : end])
	fields := strings.Fields(string(text[end+1:]))
	const state, flags, startTime = 0, 6, 19
	if len(fields) <= startTime {
		return process{}, fmt.Errorf("/proc/%d/stat is not understood", pid)
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return process{}, errNoProcess
	}
	// A process that dies closes its terminals first, and is a zombie later.
	if bits, err := strconv.ParseUint(fields[flags], 10, 64); err == nil && bits&exiting != 0 {
		return process{}, errNoProcess
	}
	ticks, err := strconv.ParseInt(fields[startTime], 10, 64)
	if err != nil {
		return process{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	boot, err := bootTime()
	if err != nil {
		return process{}, err
	}
	return process{name: name, started: time.Unix(boot+ticks/ticksPerSecond, 0)}, nil
}

func bootTime() (int64, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "btime "); ok {
			return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, errors.New("/proc/stat: no btime")
}
