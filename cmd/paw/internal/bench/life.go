package main

import (
	_ "embed"
	"fmt"
	"os"
)

//go:embed start.sh
var shellStart string

// lives is the number of sessions that are started, crashed, recovered, stopped and purged.
const lives = 5

// step times a command, or counts its calls.
type step func(j *job, argv ...string)

// life are the jobs of a session's life. A nil job is done, but not measured.
type life struct {
	agents                      int
	start, recover, stop, purge *job
	shell                       *job // a shell script that starts as many
}

// measureLife times start, and for eight agents also the later commands.
func (b *bench) measureLife(w *world, n int) {
	l := life{agents: n, start: b.job(fmt.Sprintf("start, %s", plural(n)), budget{})}
	if n == 8 {
		l.shell = b.job("  the same in shell", budget{})
		// For each agent it registers a worktree and checks it out; the branches are made together.
		l.start.budget = budget{multiple: 1, of: l.shell, counts: &counts{git: 2*n + 5, tmux: 4}}
		l.recover = b.job(fmt.Sprintf("recover after a crash, %s", plural(n)), budget{})
		l.stop = b.job(fmt.Sprintf("stop, %s", plural(n)), budget{multiple: 20})
		// It looks at each worktree and its index once, then deletes all branches, and then the turns.
		l.purge = b.job(fmt.Sprintf("purge, %s", plural(n)), budget{multiple: 60, counts: &counts{git: 2*n + 8, tmux: 3}})
	}
	for range lives {
		w.live(l, w.time)
	}
	w.live(l, w.count)
}

// live starts, crashes, recovers, stops and purges a session, as far as l has jobs.
func (w *world) live(l life, measured step) {
	do := func(j *job, argv ...string) {
		if j == nil {
			w.run(argv...)
			return
		}
		measured(j, argv...)
	}
	if l.shell != nil {
		w.startInShell(l.shell, l.agents, measured)
	}
	do(l.start, w.startArgs(l.agents)...)
	w.expectAlive(l.agents)
	if l.recover != nil {
		w.crash()
		do(l.recover, w.paw, "recover", sessionName, "--detach")
		w.expectAlive(l.agents)
	}
	do(l.stop, w.paw, "stop", sessionName)
	do(l.purge, w.paw, "purge", sessionName, "--yes", "--tags")
	w.settle()
}

// startInShell starts agents with a shell script, and ends them.
func (w *world) startInShell(j *job, n int, measured step) {
	func() {
		defer w.killServer(w.socket + ".shell")
		measured(j, "sh", "-c", shellStart, "start.sh", w.repo, w.socket, fmt.Sprint(n))
	}()
	check(os.RemoveAll(w.repo + ".shell"))
	w.run("git", "worktree", "prune")
	for i := range n {
		w.run("git", "branch", "-q", "-D", fmt.Sprintf("shell/a%d", i+1))
	}
}
