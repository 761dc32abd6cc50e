package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	firstFrames = 15               // how often the first frame is timed
	settling    = 35 * time.Second // time in which the desk counts the lines of the agents it shows
	atRest      = 30 * time.Second
)

// measureDesk times the first frame of the desk with n agents, and the processor time of the desk,
// its children and the tmux server while nothing happens.
func (b *bench) measureDesk(w *world, n int) {
	w.run(w.startArgs(n)...)
	w.expectAlive(n)
	j := b.job(fmt.Sprintf("desk, %s: first frame", plural(n)), budget{most: 60 * time.Millisecond})
	for range firstFrames {
		w.firstFrame(j)
	}
	own := b.job(fmt.Sprintf("desk, %s: processor time of %s at rest", plural(n), atRest), budget{most: atRest / 100, counts: &counts{git: 6, tmux: 16}})
	server := b.job("  the same, of the tmux server", budget{})
	w.rest(false, func(d *deskRun) {
		tmux := strings.TrimSpace(w.output("tmux", "-S", w.socket, "display-message", "-p", "#{pid}"))
		desk := strconv.Itoa(d.cmd.Process.Pid)
		ownBefore, serverBefore := processorTime(desk), processorTime(tmux)
		sleep(w.ctx, atRest)
		own.took = []time.Duration{processorTime(desk) - ownBefore}
		server.took = []time.Duration{processorTime(tmux) - serverBefore}
	})
	w.rest(true, func(*deskRun) { w.counted(own, func() { sleep(w.ctx, atRest) }) })
	check(w.ctx.Err())
}

// deskRun is a desk on its own terminal.
type deskRun struct {
	cmd      *exec.Cmd
	terminal *os.File
	mu       sync.Mutex
	shown    []byte
	changed  chan struct{}
}

// openDesk starts the desk on a terminal.
func (w *world) openDesk(counting bool) *deskRun {
	terminal := must(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))
	number := must(unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN))
	check(unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0))
	check(unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 35, Col: 120}))
	side := must(os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0))
	defer side.Close()
	d := &deskRun{cmd: w.command(w.ctx, counting, w.paw, "ui"), terminal: terminal, changed: make(chan struct{}, 1)}
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = side, side, side
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	check(d.cmd.Start())
	go d.read()
	return d
}

func (d *deskRun) read() {
	buffer := make([]byte, 1<<16)
	for {
		n, err := d.terminal.Read(buffer)
		d.mu.Lock()
		d.shown = append(d.shown, buffer[:n]...)
		d.mu.Unlock()
		select {
		case d.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// shows waits until the desk shows a text.
func (d *deskRun) shows(ctx context.Context, text string) {
	ctx, cancel := context.WithTimeout(ctx, childTimeout)
	defer cancel()
	for {
		d.mu.Lock()
		there := bytes.Contains(d.shown, []byte(text))
		d.mu.Unlock()
		if there {
			return
		}
		select {
		case <-ctx.Done():
			fail("paw ui: never shows %q: %w", text, ctx.Err())
		case <-d.changed:
		}
	}
}

// leave ends the desk as a user does.
func (d *deskRun) leave() {
	_, _ = d.terminal.WriteString("q")
	check(errors.Join(d.cmd.Wait(), d.terminal.Close()))
}

// firstFrame times the start of paw until the terminal shows the first agents.
func (w *world) firstFrame(j *job) {
	unit := w.spawn(false, "git", "--version")
	begun := time.Now()
	d := w.openDesk(false)
	defer d.leave()
	d.shows(w.ctx, agentName(0))
	j.took, j.unit = append(j.took, time.Since(begun)), append(j.unit, unit)
}

// rest calls do with a desk that has settled.
func (w *world) rest(counting bool, do func(*deskRun)) {
	d := w.openDesk(counting)
	defer d.leave()
	d.shows(w.ctx, agentName(0))
	sleep(w.ctx, settling)
	do(d)
}

// processorTime returns the processor time of a process and its ended children, as in
// proc_pid_stat(5), in hundredths of a second.
func processorTime(pid string) time.Duration {
	stat := must(os.ReadFile(filepath.Join("/proc", pid, "stat")))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 15 {
		fail("/proc/%s/stat: has no times", pid)
	}
	ticks := 0
	for _, field := range fields[11:15] {
		ticks += must(strconv.Atoi(field))
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
