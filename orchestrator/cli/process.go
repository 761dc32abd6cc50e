package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"paw/session"
)

// pipeGrace is how long output is awaited of what a finished CLI left running.
const pipeGrace = time.Second

// interruptGrace is how long an interrupted CLI, and what it started, may take to end before it is killed. Tests shorten
// it.
var interruptGrace = 5 * time.Second

// maxTrace bounds how much of a CLI's standard error is kept.
const maxTrace = 4 << 10

// Process is a run of a CLI without a terminal.
type Process struct {
	Argv []string
	Dir  string
	Env  []string
	Lock *os.File // inherited, so that it stays locked as long as the CLI runs; may be nil
	// Stdout and Stderr get each line without its end, while the CLI runs; never one of them twice at once.
	Stdout, Stderr func(line []byte)
	// Began, which may be nil, gets the process that was started.
	Began func(pid int)
	// Started gets a function that kills the CLI and all it started at once.
	Started func(kill func())
}

// Ended is how a Process ended.
type Ended struct {
	Stdout      []byte
	Trace       string // the end of its standard error
	ExitCode    int
	Signal      syscall.Signal // that killed it, 0 for none
	Interrupted bool           // because ctx ended
	Err         error          // it could not be started
}

// Run runs the process until it ends or ctx does; then it is interrupted as by Ctrl-C in its terminal and, when it or
// something that it started takes too long, killed. No process is left in that case.
func (p Process) Run(ctx context.Context) Ended {
	var stdout bytes.Buffer
	trace := &tail{limit: maxTrace}
	outLines := &lineWriter{each: p.Stdout}
	errLines := &lineWriter{each: func(line []byte) {
		trace.add(line)
		p.Stderr(line)
	}}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.Argv[0], p.Argv[1:]...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, outLines), errLines
	cmd.WaitDelay = pipeGrace
	if p.Lock != nil {
		cmd.ExtraFiles = []*os.File{p.Lock}
	}
	// A terminal session of its own: the CLI cannot ask anything on paw's terminal, Ctrl-C reaches paw alone, and all
	// that the CLI starts is found again.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	interrupted, err := p.await(ctx, cmd)
	outLines.flush()
	errLines.flush()
	end := Ended{Stdout: stdout.Bytes(), Trace: trace.text(), Interrupted: interrupted, Err: err}
	if state := cmd.ProcessState; state != nil {
		end.ExitCode = state.ExitCode()
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			end.Signal = status.Signal()
		}
	}
	return end
}

// await starts the command and waits for its end, or ends it with ctx.
func (p Process) await(ctx context.Context, cmd *exec.Cmd) (interrupted bool, err error) {
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("%s: %w", p.Argv[0], err)
	}
	leader := cmd.Process.Pid
	if p.Began != nil {
		p.Began(leader)
	}
	p.Started(func() { killAll(leader) })
	defer p.Started(func() {})
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // ProcessState says it all
		close(ended)
	}()
	select {
	case <-ended:
		return false, nil
	case <-ctx.Done():
		endAll(leader, ended)
		return true, nil
	}
}

// endAll interrupts a CLI as Ctrl-C in its terminal would, and kills what is left
// of it and of its children when they take too long.
func endAll(leader int, ended <-chan struct{}) {
	_ = syscall.Kill(-leader, syscall.SIGINT)
	grace := time.NewTimer(interruptGrace)
	defer grace.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	gone := ended
	for {
		select {
		case <-gone:
			gone = nil
		case <-tick.C:
			if gone == nil && len(session.Members(leader)) == 0 {
				return
			}
		case <-grace.C:
			killAll(leader)
			<-ended
			return
		}
	}
}

// killAll kills every process of a terminal session.
func killAll(leader int) {
	_ = syscall.Kill(-leader, syscall.SIGKILL)
	for _, pid := range session.Members(leader) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// lineWriter hands on whole lines without their ends.
type lineWriter struct {
	each func(line []byte)
	rest []byte
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		end := bytes.IndexByte(w.rest, '\n')
		if end < 0 {
			return len(b), nil
		}
		w.each(w.rest[:end])
		w.rest = w.rest[end+1:]
	}
}

func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.each(w.rest)
		w.rest = nil
	}
}

// tail keeps the last bytes of lines.
type tail struct {
	limit int
	kept  []byte
}

func (t *tail) add(line []byte) {
	t.kept = append(append(t.kept, line...), '\n')
	if extra := len(t.kept) - t.limit; extra > 0 {
		t.kept = append([]byte{}, t.kept[extra:]...)
	}
}

func (t *tail) text() string { return strings.ToValidUTF8(string(t.kept), "") }
