package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Processes is a look at all processes of the machine, by the terminal session
// they belong to.
type Processes map[int][]int

// ListProcesses looks at the processes once; for many agents that is much
// cheaper than once for each.
func ListProcesses() Processes {
	found := Processes{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return found
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if leader, alive := sessionOf(string(stat)); err == nil && alive {
			found[leader] = append(found[leader], pid)
		}
	}
	return found
}

// Descendants returns the living processes of the holder's launch that run the
// given program. CLIs that are wrappers (a node script that runs a native
// program) pass no lock on, so when the wrapper is killed alone its child runs on
// while the lock is free. Such a process still belongs to the terminal session
// that the launcher led, and carries its PAW_LAUNCH; tools that the agent had
// started run other programs and do not count.
func (h Holder) Descendants(processes Processes, program string) []int {
	if h.PID <= 0 || h.BootID != BootID() {
		return nil
	}
	mark := fmt.Appendf(nil, "\x00PAW_LAUNCH=%s/%s/%d\x00", h.Session, h.Agent, h.Generation)
	var pids []int
	for _, pid := range processes[h.PID] {
		dir := fmt.Sprintf("/proc/%d", pid)
		exe, err := os.Readlink(filepath.Join(dir, "exe"))
		if err != nil || strings.TrimSuffix(filepath.Base(exe), " (deleted)") != program {
			continue
		}
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err == nil && bytes.Contains(append([]byte{0}, environ...), mark) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// sessionOf reads fields 3 (state) and 6 (session) of proc_pid_stat(5).
func sessionOf(stat string) (leader int, alive bool) {
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, false
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
		return 0, false
	}
	leader, err := strconv.Atoi(fields[3])
	return leader, err == nil
}
