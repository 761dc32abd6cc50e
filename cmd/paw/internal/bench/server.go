package main

import (
	"context"
	"strconv"
	"strings"
	"syscall"
)

// crash kills the world's tmux server with SIGKILL, and waits until it and the processes of all
// panes are gone.
func (w *world) crash() {
	pids := strings.Fields(w.output("tmux", "-S", w.socket, "list-panes", "-a", "-F", "#{pid} #{pane_pid}"))
	if len(pids) == 0 {
		fail("%s: no panes", w.socket)
	}
	server, err := strconv.Atoi(pids[0])
	if err != nil || server <= 1 {
		fail("%s: the pid of its server is %q", w.socket, pids[0])
	}
	check(syscall.Kill(server, syscall.SIGKILL))
	w.await("the tmux server and its panes to end", func() bool { return w.ended(pids) })
}

// ended reports whether none of the processes runs. A zombie counts as ended.
func (w *world) ended(pids []string) bool {
	out, _ := w.command(w.ctx, false, "ps", "-o", "stat=", "-p", strings.Join(pids, ",")).Output() // fails if there is none
	for _, state := range strings.Fields(string(out)) {
		if !strings.HasPrefix(state, "Z") {
			return false
		}
	}
	return true
}

// killServer ends a tmux server, also after an interrupt. It is no error if none runs.
func (w *world) killServer(socket string) {
	_ = w.command(context.WithoutCancel(w.ctx), false, "tmux", "-S", socket, "kill-server").Run()
}

// end ends the world's tmux server with all agents.
func (w *world) end() { w.killServer(w.socket) }
