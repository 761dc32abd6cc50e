package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// shims are programs git and tmux that log each call and exec the real program. They log calls by
// paw itself: git's own children run from git's folder.
type shims struct {
	dir string
	log string
}

func newShims(parent string) shims {
	s := shims{dir: filepath.Join(parent, "shims"), log: filepath.Join(parent, "calls")}
	check(os.Mkdir(s.dir, 0o755))
	for _, name := range []string{"git", "tmux"} {
		real := must(filepath.Abs(must(exec.LookPath(name))))
		// One short write for each call keeps the lines of simultaneous calls apart.
		script := fmt.Sprintf("#!/bin/sh\nprintf '%s %%.500s\\0' \"$*\" >>'%s'\nexec '%s' \"$@\"\n", name, s.log, real)
		check(os.WriteFile(filepath.Join(s.dir, name), []byte(script), 0o755))
	}
	return s
}

// calls are the git and tmux processes of one job, each "git ARGS..." or "tmux ARGS...".
type calls []string

// of counts the calls of one program.
func (c calls) of(program string) int {
	n := 0
	for _, call := range c {
		if strings.HasPrefix(call, program+" ") {
			n++
		}
	}
	return n
}

// lists counts the calls that ask tmux for its panes.
func (c calls) lists() int {
	n := 0
	for _, call := range c {
		if strings.HasPrefix(call, "tmux ") && strings.Contains(call, " list-pane") { // paw shortens names of tmux commands, so that no alias of the user is run
			n++
		}
	}
	return n
}
