package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/disk"
)

// Processes maps the leader of each terminal session on the machine to the session's living
// processes.
type Processes map[int][]int

// ListProcesses reads /proc once; for many agents that is much cheaper than once for each.
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

// Launched returns the living processes of the holder's launch: the CLI that the holder became or
// runs, and the processes in its terminal session. A CLI's tools leave that session if it starts
// them with setsid(2). While the CLI lives, its PID names the session. Later the number may belong
// to another session, so then only processes whose environment has the launch's PAW_LAUNCH count.
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
		pids = append(pids, h.PID) // The CLI has taken the lock without a terminal session of its own.
	}
	slices.Sort(pids)
	return pids
}

// Survivors returns the processes of a dead holder's launch that are its CLI. A CLI that is a
// wrapper (a node script that runs another program) passes no lock on: when the wrapper alone is
// killed, its child runs on and the lock is free. Such a child runs the program, or reads from the
// terminal; tools that the agent started do neither.
func (h Holder) Survivors(processes Processes, program string) []int {
	return slices.DeleteFunc(h.Launched(processes), func(pid int) bool { return !runs(pid, program) && !readsTerminal(pid) })
}

// carries reports whether the environment of a process holds an entry. mark includes the zero bytes
// around it.
func carries(pid int, mark []byte) bool {
	env, err := environ(pid)
	return err == nil && bytes.Contains(append([]byte{0}, env...), mark)
}

// runs reports whether a process executes a program of that name.
func runs(pid int, program string) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && strings.TrimSuffix(filepath.Base(exe), " (deleted)") == program
}

// readsTerminal reports whether the standard input of a process is a terminal, even one that has
// hung up.
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

// Environ returns the environment that a process was started with, as KEY=value.
func Environ(pid int) ([]string, error) {
	data, err := environ(pid)
	if err != nil {
		return nil, err
	}
	var env []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(data), "\x00"), "\x00") {
		if strings.Contains(entry, "=") {
			env = append(env, entry)
		}
	}
	return env, nil
}

// execPause is the pause between two reads of an environment that is not set yet.
const execPause = time.Millisecond

// environ reads /proc/PID/environ. The file is empty for a moment during execve(2): the kernel sets
// the new environment last.
func environ(pid int) ([]byte, error) {
	for tries := 0; ; tries++ {
		data, err := disk.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(data) > 0 || tries == 10 {
			return data, err
		}
		time.Sleep(execPause)
	}
}

// Members returns the living processes of the terminal session that leader began with setsid(2), in
// all its process groups.
func Members(leader int) []int { return ListProcesses()[leader] }

// Nested reports whether the process pid, a descendant of the holder, belongs to a second run of
// the same program: an agent that runs its own CLI again passes paw's environment on. program is
// the name of the CLI's program.
func (h Holder) Nested(program string, pid int) bool {
	chain := chainOf(h.cli().PID, pid)
	runs, files, above, next := 0, map[string]bool{}, command{}, false // next: above is the parent of c
	for _, c := range chain {                                          // chain starts at the holder
		wrapped := runs > 0 && (above.handsOn(c) || next && len(above.arguments)+len(c.arguments) == 0)
		own := c.program != "" && (wrapped || files[c.program] || slices.Contains(c.names, program) || runs == 0)
		if next = own; !own {
			continue
		}
		if above, files[c.program] = c, true; !wrapped {
			runs++
		}
	}
	return runs > 1
}

// handsOn reports whether one of two processes has the other's arguments at the end of its own, as
// a wrapper and the program it starts do. Both count as one run.
func (c command) handsOn(below command) bool {
	longer, shorter := c.arguments, below.arguments
	if len(longer) < len(shorter) {
		longer, shorter = shorter, longer
	}
	return len(shorter) > 0 && slices.Equal(longer[len(longer)-len(shorter):], shorter)
}

// chainOf returns the commands of the processes from top down to its descendant pid; nil if pid is
// no descendant.
func chainOf(top, pid int) (chain []command) {
	for range 64 { // Limits the loop if PIDs change meanwhile; no real chain is as long.
		if pid <= 1 || top <= 0 {
			return nil
		}
		chain = append(chain, commandOf(pid))
		if pid == top {
			slices.Reverse(chain)
			return chain
		}
		stat, err := readStat(strconv.Itoa(pid))
		if err != nil {
			return nil
		}
		fields := statFields(stat, 2)
		if len(fields) < 2 {
			return nil
		}
		pid, _ = strconv.Atoi(fields[1])
	}
	return nil
}

// command describes the program that a process runs.
type command struct {
	program   string   // the executed file, or the script that an interpreter reads, with symlinks resolved
	names     []string // file names of the program
	arguments []string
}

// commandOf reads the command of a process. The first argument of an interpreter, such as node,
// that is no option and names a file is taken as the script.
func commandOf(pid int) command {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	line, lineErr := disk.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || lineErr != nil || len(line) == 0 {
		return command{}
	}
	exe = strings.TrimSuffix(exe, " (deleted)")
	var argv []string
	for word := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
		argv = append(argv, string(word))
	}
	c := command{program: exe, names: []string{filepath.Base(exe), filepath.Base(argv[0])}, arguments: argv[1:]}
	for i, word := range c.arguments {
		if strings.HasPrefix(word, "-") {
			continue
		}
		if path := scriptAt(pid, word); path != "" {
			return command{program: path, names: append(c.names, filepath.Base(word)), arguments: c.arguments[i+1:]}
		}
		break
	}
	return c
}

// scriptAt returns the file that an argument of a process names, with symlinks resolved; "" for
// none.
func scriptAt(pid int, word string) string {
	if !filepath.IsAbs(word) {
		word = filepath.Join(fmt.Sprintf("/proc/%d/cwd", pid), word)
	}
	path, err := filepath.EvalSymlinks(word)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}
