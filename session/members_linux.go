package session

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Members returns the living processes of the terminal session that the process leader began with setsid(2), in
// whatever process groups they are.
func Members(leader int) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var pids []int
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil || !inSession(string(stat), leader) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}
