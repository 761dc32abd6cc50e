package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
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

// computed returns how long a process has computed, in ticks of 10 ms.
func computed(pid int) (ticks int) {
	stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if _, rest, found := strings.Cut(string(stat), ") "); found {
		for _, field := range strings.Fields(rest)[11:15] { // its own and its children's, user and system
			n, _ := strconv.Atoi(field)
			ticks += n
		}
	}
	return ticks
}

// TestAtRestNothingRuns: once agents rest, also after set-ups, turns, questions and queued prompts, no process of paw is left,
// none is started, and what is left uses no processor time.
func TestAtRestNothingRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[worktree]\nsetup = \"true\"\n[notify]\ncommand = \"true\"\ndwell = 0\n")
	w.start("one", "two", "three")
	w.ok(w.paw("queue", "add", "one", "do: say queued"))
	w.ok(w.paw("send", "two", "do: ask really"))
	w.ok(w.paw("send", "three", "do: fail no"))
	waitFor(t, "all rests", func() bool {
		return w.agent("one").TurnsCompleted == 1 && w.agent("two").State == "waiting_input" && w.agent("three").State == "error" && inBackground(w.socket) == 0
	})
	all := func() (pids []int, ticks int) {
		for _, p := range processes("PAW_TMUX_SOCKET=" + w.socket) {
			pids, ticks = append(pids, p.pid), ticks+computed(p.pid)
		}
		return pids, ticks
	}
	pause(time.Now().Add(-time.Hour))
	before, had := all()
	for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(20 * time.Millisecond) {
		if now, _ := all(); !slices.Equal(now, before) {
			t.Fatalf("at rest there were the processes %v, then %v: %+v", before, now, processes("PAW_TMUX_SOCKET="+w.socket))
		}
	}
	if _, has := all(); has-had > 3 || len(before) != 4 {
		t.Errorf("%d processes computed for %d ms in 3 s", len(before), 10*(has-had))
	}
}
