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

// environ reads /proc/PID/environ. It is empty for a moment while a process is
// in execve(2): the kernel sets the new program's environment last.
func environ(pid int) ([]byte, error) {
	for tries := 0; ; tries++ {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(data) > 0 || tries == 10 {
			return data, err
		}
		time.Sleep(time.Millisecond)
	}
}

// Members returns the living processes of the terminal session that the process leader began with setsid(2), in
// whatever process groups they are.
func Members(leader int) []int { return ListProcesses()[leader] }

// Nested tells whether the process pid, a descendant of the holder, was started by a second run of the same program below
// it: an agent that runs its own CLI once more hands paw's environment on to it. program is what the CLI is called.
func (h Holder) Nested(program string, pid int) bool {
	chain := chainOf(h.cli().PID, pid)
	runs, files, above, next := 0, map[string]bool{}, command{}, false // next: above is the parent
	for _, c := range chain {                                          // from the holder down
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

// handsOn tells a wrapper from the program that it starts by the arguments: a wrapper hands its own on, behind those of its
// own or of its choice. Both are one run.
func (c command) handsOn(below command) bool {
	longer, shorter := c.arguments, below.arguments
	if len(longer) < len(shorter) {
		longer, shorter = shorter, longer
	}
	return len(shorter) > 0 && slices.Equal(longer[len(longer)-len(shorter):], shorter)
}

// chainOf is what the processes run from one down to its descendant, nothing where the other is none.
func chainOf(top, pid int) (chain []command) {
	for range 64 { // deeper than any real chain; a race cannot make it endless
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

// command is what a process runs.
type command struct {
	program   string   // the file that it executes, or that its interpreter reads, without symbolic links
	names     []string // what that program is called
	arguments []string
}

// commandOf finds out what a process runs. A script is the first argument of its interpreter, such as node, that is no option
// and names a file.
func commandOf(pid int) command {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	line, lineErr := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
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

// scriptAt is the file that an argument of a process names, without symbolic links, "" where it names none.
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
