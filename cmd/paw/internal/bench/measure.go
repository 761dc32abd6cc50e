package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// effort says how often a job is repeated: at most often, at most until patience is over, and at
// least once.
type effort struct {
	runs     int
	patience time.Duration
}

var (
	quick = effort{runs: 15, patience: 4 * time.Second}
	slow  = effort{runs: 5, patience: 4 * time.Second}
)

// measure repeats a command that changes nothing.
func (w *world) measure(j *job, e effort, argv ...string) {
	begun := time.Now()
	for i := range e.runs {
		if i > 0 && time.Since(begun) > e.patience {
			return
		}
		w.time(j, argv...)
	}
}

// step times a command, or counts its calls.
type step func(j *job, argv ...string)

// repeat calls do n times, the last time to count and not to time.
func (w *world) repeat(n int, do func(i int, measured step)) {
	for i := range n - 1 {
		do(i, w.time)
	}
	do(n-1, w.count)
}

// time runs a command between two runs of git --version, and adds the three times to the job.
func (w *world) time(j *job, argv ...string) {
	before := w.spawn(false, "git", "--version")
	took := w.spawn(false, argv...)
	after := w.spawn(false, "git", "--version")
	j.took = append(j.took, took)
	j.unit = append(j.unit, before, after)
}

// count runs a command once with the shims, and adds its calls to the job. The time is dropped.
func (w *world) count(j *job, argv ...string) {
	if j.budget.counts.traced() && w.canTrace() {
		w.trace(j, argv...)
		return
	}
	w.counted(j, func() { w.spawn(true, argv...) })
}

// counted adds the calls that run makes with the shims to the job.
func (w *world) counted(j *job, run func()) {
	_ = w.command(w.ctx, true, append(w.startArgs(1), "--base", "none")...).Run() // refused; paw remembers which git and tmux are new enough
	check(os.WriteFile(w.shims.log, nil, 0o644))
	run()
	j.calls = calls{}
	for call := range strings.SplitSeq(string(must(os.ReadFile(w.shims.log))), "\x00") {
		if call != "" {
			j.calls = append(j.calls, call)
		}
	}
}

// canTrace reports whether strace is installed and permitted, which it is not in many containers.
func (w *world) canTrace() bool {
	return exec.CommandContext(w.ctx, "strace", "-f", "-b", "execve", "true").Run() == nil
}

// trace runs a job like count, and also counts its calls of fsync and the files of the world that
// it opens. The programs that paw starts count only if the job's budget is deep.
func (w *world) trace(j *job, argv ...string) {
	trace := filepath.Join(w.dir, "trace")
	strace := []string{"strace", "-f", "-qq", "-z", "-s", "4096", "-e", "trace=fsync,fdatasync,openat", "-e", "signal=none", "-o", trace}
	if !j.budget.counts.deep {
		strace = append(strace, "-b", "execve")
	}
	w.counted(j, func() { w.spawn(true, append(strace, argv...)...) })
	text := string(must(os.ReadFile(trace)))
	syncs := strings.Count(text, "fsync(") + strings.Count(text, "fdatasync(")
	opens := strings.Count(text, `openat(AT_FDCWD, "`+w.dir+"/")
	j.syncs, j.opens = &syncs, &opens
}

// spawn runs a command without pipes, which would cost this process time, and returns how long it
// took.
func (w *world) spawn(counting bool, argv ...string) time.Duration {
	ctx, cancel := context.WithTimeout(w.ctx, childTimeout)
	defer cancel()
	said := must(os.CreateTemp(w.dir, "stderr"))
	defer os.Remove(said.Name())
	defer said.Close()
	cmd := w.command(ctx, counting, argv...)
	cmd.Stderr = said
	if w.stdin != "" {
		in := must(os.Open(w.stdin))
		defer in.Close()
		cmd.Stdin = in
	}
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	if err != nil {
		stderr, _ := os.ReadFile(said.Name())
		check(childError(argv, err, stderr))
	}
	return took
}

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
