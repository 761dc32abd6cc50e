package selftest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"paw/tmux"
)

// killServer ends the tmux server of the place as a crash would, and returns the processes of its panes.
func (p *place) killServer() (panes []int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // also when the trial was interrupted
	defer cancel()
	server, all, err := tmux.New(p.socket).Panes(ctx)
	if err != nil {
		return nil, err
	}
	for _, pane := range all {
		if pane.PID > 1 && !pane.Dead {
			panes = append(panes, pane.PID)
		}
	}
	return panes, syscall.Kill(server.PID, syscall.SIGKILL)
}

// killAll ends everything that runs in the place. A CLI that ignores the end of its terminal leads a process group.
func (p *place) killAll() {
	if p.socket == "" {
		return
	}
	panes, err := p.killServer()
	if err != nil {
		return // there is none any more
	}
	for _, pid := range panes {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // it may be gone
	}
}

// killRest kills the processes that have the place for their HOME, where the system tells which those are: what a CLI
// starts need not be in its group.
func (p *place) killRest() {
	mark := []byte("\x00HOME=" + filepath.Join(p.root, "home") + "\x00")
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || p.root == "" {
		return
	}
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
