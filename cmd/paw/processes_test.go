package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// process is a running program, as in /proc.
type process struct {
	pid         int
	words       []string // command line
	environment []string
}

// processes returns the processes whose environment has all these variables.
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

// zeroEnded returns the texts of a file in which each text ends with a zero byte, as in
// /proc/PID/environ.
func zeroEnded(file string) []string {
	data, _ := os.ReadFile(file)
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// inside counts the processes of this world that have this word, such as __deliver, in their
// command line.
func (w *world) inside(word string) int {
	return len(slices.DeleteFunc(processes("PAW_TMUX_SOCKET="+w.socket), func(p process) bool { return !slices.Contains(p.words, word) }))
}

// inBackground counts the processes of paw that work for agents on the tmux server at a socket: their
// launchers, their hooks, and what these have started.
func inBackground(socket string) int {
	return len(slices.DeleteFunc(processes("PAW_TMUX_SOCKET="+socket), func(p process) bool {
		return len(p.words) < 2 || p.words[1] != "hook" && !strings.HasPrefix(p.words[1], "__")
	}))
}
