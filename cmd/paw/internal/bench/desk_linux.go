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
	settling    = 35 * time.Second // until the desk has counted the lines of the agents that it shows
	atRest      = 30 * time.Second
)

// measureDesk times the first frame of the desk with so many agents, and the processor time that it takes while nothing
// happens: its own with that of its children, and that of the tmux server.
func (b *bench) measureDesk(ctx context.Context, w *world, n int) error {
	if err := w.run(ctx, nil, w.startArgs(n)...); err != nil {
		return err
	}
	if err := w.expectAlive(ctx, n); err != nil {
		return err
	}
	j := b.job(fmt.Sprintf("desk, %s: first frame", plural(n)), budget{most: 60 * time.Millisecond})
	for range firstFrames {
		if err := w.firstFrame(ctx, j); err != nil {
			return err
		}
	}
	own := b.job(fmt.Sprintf("desk, %s: processor time of %s at rest", plural(n), atRest), budget{most: atRest / 100, counts: &counts{git: 6, tmux: 16}})
	server := b.job("  the same, of the tmux server", budget{})
	if err := w.rest(ctx, false, func(d *deskRun) error {
		tmux, err := w.output(ctx, nil, "tmux", "-S", w.socket, "display-message", "-p", "#{pid}")
		if err != nil {
			return err
		}
		pids := []string{strconv.Itoa(d.cmd.Process.Pid), strings.TrimSpace(tmux)}
		var took [2]time.Duration
		for i, sign := range []time.Duration{-1, 1} {
			for k, pid := range pids {
				spent, err := processorTime(pid)
				if err != nil {
					return err
				}
				took[k] += sign * spent
			}
			if i == 0 {
				sleep(ctx, atRest)
			}
		}
		own.took, server.took = took[:1], took[1:]
		return nil
	}); err != nil {
		return err
	}
	return w.rest(ctx, true, func(*deskRun) error {
		return w.counted(own, func() error { sleep(ctx, atRest); return ctx.Err() })
	})
}

// deskRun is a desk on a terminal of its own.
type deskRun struct {
	cmd      *exec.Cmd
	terminal *os.File
	mu       sync.Mutex
	shown    []byte
	changed  chan struct{}
}

// openDesk shows the desk on a terminal.
func (w *world) openDesk(ctx context.Context, counting bool) (*deskRun, error) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	d := &deskRun{terminal: terminal, changed: make(chan struct{}, 1)}
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 35, Col: 120})
	}
	if err != nil {
		return nil, errors.Join(err, terminal.Close())
	}
	side, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, errors.Join(err, terminal.Close())
	}
	defer side.Close()
	d.cmd = w.command(ctx, counting, w.paw, "ui")
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = side, side, side
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := d.cmd.Start(); err != nil {
		return nil, errors.Join(err, terminal.Close())
	}
	go d.read()
	return d, nil
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
func (d *deskRun) shows(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, childTimeout)
	defer cancel()
	for {
		d.mu.Lock()
		there := bytes.Contains(d.shown, []byte(text))
		d.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("paw ui: never shows %q: %w", text, ctx.Err())
		case <-d.changed:
		}
	}
}

// leave ends the desk as a user does.
func (d *deskRun) leave() error {
	_, _ = d.terminal.WriteString("q")
	err := d.cmd.Wait()
	return errors.Join(err, d.terminal.Close())
}

// firstFrame times how long it takes from the start of paw to the first agents on the terminal.
func (w *world) firstFrame(ctx context.Context, j *job) error {
	unit, err := w.spawn(ctx, false, "git", "--version")
	if err != nil {
		return err
	}
	begun := time.Now()
	d, err := w.openDesk(ctx, false)
	if err != nil {
		return err
	}
	err = d.shows(ctx, agentName(0))
	took := time.Since(begun)
	j.took, j.unit = append(j.took, took), append(j.unit, unit)
	return errors.Join(err, d.leave())
}

// rest does something with a desk to which nothing happens any more.
func (w *world) rest(ctx context.Context, counting bool, do func(*deskRun) error) error {
	d, err := w.openDesk(ctx, counting)
	if err != nil {
		return err
	}
	if err = d.shows(ctx, agentName(0)); err == nil {
		sleep(ctx, settling)
		err = do(d)
	}
	return errors.Join(err, d.leave())
}

// processorTime is what a process and its ended children have used, proc_pid_stat(5), in the kernel's hundredths of a second.
func processorTime(pid string) (time.Duration, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 15 {
		return 0, fmt.Errorf("/proc/%s/stat: has no times", pid)
	}
	ticks := 0
	for _, field := range fields[11:15] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, fmt.Errorf("/proc/%s/stat: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
