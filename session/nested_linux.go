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
