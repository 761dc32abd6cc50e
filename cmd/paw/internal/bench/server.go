package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// crash ends the world's tmux server with SIGKILL and waits until it and all its
// panes' processes are gone: what paw recover finds after a crash.
func (w *world) crash(ctx context.Context) error {
	out, err := w.output(ctx, nil, "tmux", "-S", w.socket, "list-panes", "-a", "-F", "#{pid} #{pane_pid}")
	if err != nil {
		return err
	}
	pids := strings.Fields(out)
	if len(pids) == 0 {
		return fmt.Errorf("%s: no panes", w.socket)
	}
	server, err := strconv.Atoi(pids[0])
	if err != nil || server <= 1 {
		return fmt.Errorf("%s: the pid of its server is %q", w.socket, pids[0])
	}
	if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
		return fmt.Errorf("tmux server %d: %w", server, err)
	}
	return await(ctx, "the tmux server and its panes to end", func() (bool, error) { return w.ended(ctx, pids), nil })
}

// ended tells whether none of the processes runs; a zombie that nobody reaps has
// ended, too.
func (w *world) ended(ctx context.Context, pids []string) bool {
	out, _ := w.output(ctx, nil, "ps", "-o", "stat=", "-p", strings.Join(pids, ",")) // exits with 1 when there is none
	for _, state := range strings.Fields(out) {
		if !strings.HasPrefix(state, "Z") {
			return false
		}
	}
	return true
}

// end ends the world: its server, with all agents, and its files.
func (w *world) end(ctx context.Context) {
	if _, err := os.Stat(w.socket); err == nil {
		// No server is what it is for.
		_ = w.run(ctx, nil, "tmux", "-S", w.socket, "kill-server")
	}
	_ = os.RemoveAll(w.dir) // what is left goes with the whole folder, where errors are reported
}
