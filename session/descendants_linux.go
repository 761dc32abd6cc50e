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

// Descendants returns the living processes of the holder's launch that run the
// given program. CLIs that are wrappers (a node script that runs a native
// program) pass no lock on, so when the wrapper is killed alone its child runs on
// while the lock is free. Such a process still belongs to the terminal session
// that the launcher led, and carries its PAW_LAUNCH; tools that the agent had
// started run other programs and do not count.
func (h Holder) Descendants(program string) []int {
	if h.PID <= 0 || h.BootID != BootID() {
		return nil
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	mark := fmt.Appendf(nil, "PAW_LAUNCH=%s/%s/%d\x00", h.Session, h.Agent, h.Generation)
	var pids []int
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil || !inSession(string(stat), h.PID) {
			continue
		}
		dir := filepath.Dir(path)
		exe, err := os.Readlink(filepath.Join(dir, "exe"))
		if err != nil || strings.TrimSuffix(filepath.Base(exe), " (deleted)") != program {
			continue
		}
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), append([]byte{0}, mark...)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// inSession reads fields 3 (state) and 6 (session) of proc_pid_stat(5).
func inSession(stat string, leader int) bool {
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return false
	}
	fields := strings.Fields(stat[end+1:])
	return len(fields) > 3 && fields[0] != "Z" && fields[0] != "X" && fields[3] == strconv.Itoa(leader)
}
