package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// process is a program that runs, as /proc tells of it.
type process struct {
	pid         int
	words       []string // its command line
	environment []string
}

// processes are those whose environment has all these variables.
func processes(variables ...string) []process {
	var found []process
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		p := process{environment: zeroEnded(filepath.Join(dir, "environ"))}
		if slices.ContainsFunc(variables, func(kv string) bool { return !slices.Contains(p.environment, kv) }) {
			continue
		}
		p.pid, _ = strconv.Atoi(filepath.Base(dir))
		p.words = zeroEnded(filepath.Join(dir, "cmdline"))
		found = append(found, p)
	}
	return found
}

// zeroEnded are the texts of a file, each of which ends with a zero byte; none of a process that has ended.
func zeroEnded(file string) []string {
	data, _ := os.ReadFile(file)
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// inside counts the processes of this world that run a command with this word, such as __deliver.
func (w *world) inside(word string) int {
	return len(slices.DeleteFunc(processes("PAW_TMUX_SOCKET="+w.socket), func(p process) bool { return !slices.Contains(p.words, word) }))
}
