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
	proc, err := os.Open("/proc")
	if err != nil {
		return found
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return found
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := readStat(name)
		if err != nil {
			continue
		}
		if leader, alive := sessionOf(stat); alive {
			found[leader] = append(found[leader], pid)
		}
	}
	return found
}

// Launched returns the living processes of the holder's launch: the CLI that the
// holder became or runs, and what is in the terminal session that it leads, which a CLI keeps for its
// own processes and leaves to its tools only where it does not start them with
// setsid(2). While the CLI lives its number names that session. After that the
// number may name another one, so only processes that carry the launch's
// PAW_LAUNCH are of it.
func (h Holder) Launched(processes Processes) []int {
	h = h.cli()
	if h.PID <= 0 || h.BootID != BootID() {
		return nil
	}
	pids := slices.Clone(processes[h.PID])
	if !h.Alive() {
		mark := h.mark()
		pids = slices.DeleteFunc(pids, func(pid int) bool { return !carries(pid, mark) })
	} else if !slices.Contains(pids, h.PID) {
		pids = append(pids, h.PID) // it took the lock without a terminal session of its own
	}
	slices.Sort(pids)
	return pids
}

// Survivors returns the living processes of the holder's launch that are its CLI,
// once the holder is dead. CLIs that are wrappers (a node script that runs another
// program) pass no lock on, so when the wrapper is killed alone its child runs on
// while the lock is free. Such a process runs the program, or reads from the
// terminal; what the agent had started does neither.
func (h Holder) Survivors(processes Processes, program string) []int {
	return slices.DeleteFunc(h.Launched(processes), func(pid int) bool { return !runs(pid, program) && !readsTerminal(pid) })
}

// carries tells whether the environment that a process was started with has an entry.
func carries(pid int, mark []byte) bool {
	env, err := environ(pid)
	return err == nil && bytes.Contains(append([]byte{0}, env...), mark)
}

// runs tells whether a process runs the program of that name.
func runs(pid int, program string) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && strings.TrimSuffix(filepath.Base(exe), " (deleted)") == program
}

// readsTerminal tells whether the standard input of a process is a terminal, also
// one that has hung up.
func readsTerminal(pid int) bool {
	input, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", pid))
	return err == nil && strings.HasPrefix(input, "/dev/pts/")
}

// sessionOf reads fields 3 (state) and 6 (session) of proc_pid_stat(5).
func sessionOf(stat string) (leader int, alive bool) {
	fields := statFields(stat, 4)
	if len(fields) < 4 || ended(fields) {
		return 0, false
	}
	leader, err := strconv.Atoi(fields[3])
	return leader, err == nil
}
