package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed start.sh
var shellStart string

// lives is the number of sessions that are started, crashed, recovered, stopped and purged.
const lives = 5

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
	w.repeat(lives+1, func(_ int, measured step) { w.live(l, measured) })
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

// Budgets for a session with one agent.
var (
	oneStartCounts    = &counts{git: 5, tmux: 2, syncs: 3}
	idleRecoverCounts = &counts{tmux: 1, lists: 1, syncs: 2}
)

// measureSingle times the start of one agent beside a script that does the same, with a set-up that
// takes long, and a recover with nothing to do.
func (b *bench) measureSingle(w *world) {
	start := b.job("start, one agent", budget{multiple: 30, counts: oneStartCounts})
	slow := b.job("start, one agent, set-up of 20 s", budget{multiple: 30, counts: oneStartCounts})
	shell := b.job("  the same in shell", budget{})
	idle := b.job("recover, nothing to do", budget{counts: idleRecoverCounts})
	w.repeat(quick.runs+1, func(_ int, measured step) {
		w.startInShell(shell, 1, measured)
		measured(start, w.startArgs(1)...)
		w.expectAlive(1)
		measured(idle, w.paw, "recover", sessionName, "--detach")
		w.expectAlive(1)
		end := func() {
			w.run(w.paw, "stop", sessionName)
			w.run(w.paw, "purge", sessionName, "--yes", "--tags")
			w.settle()
		}
		end()
		w.extra = w.configured("slow", "\n[worktree]\nsetup = \"sleep 20\"\n")
		measured(slow, w.startArgs(1)...)
		end()
		w.extra = nil
	})
}

// configured returns the variables for the usual configuration with more in it.
func (w *world) configured(name, more string) []string {
	folder := filepath.Join(w.dir, name, "paw")
	check(os.MkdirAll(folder, 0o755))
	usual := must(os.ReadFile(filepath.Join(w.dir, "config", "paw", "config.toml")))
	check(os.WriteFile(filepath.Join(folder, "config.toml"), append(usual, more...), 0o644))
	return []string{"XDG_CONFIG_HOME=" + filepath.Dir(folder)}
}

// measureReady times the start and the status of agents with ports and variables, alternating with
// the same without them.
func (b *bench) measureReady(w *world) {
	const agents = 8
	with := b.job("start, 8 agents, with ports and variables", budget{})
	without := b.job("  the same without", budget{})
	with.budget = budget{multiple: 1.05, of: without}
	status := b.job("status, 8 agents, with ports and variables", budget{counts: statusCounts})
	plainStatus := b.job("  the same without", budget{counts: statusCounts})
	status.budget.multiple, status.budget.of = 1.05, plainStatus
	ready := w.configured("ready", "\n[worktree]\nports = 10\nenv = { PORT = \"{port}\", API_PORT = \"{port+1}\", DB = \"{name}\" }\n")
	life := func(j, status *job) {
		w.time(j, w.startArgs(agents)...)
		w.expectAlive(agents)
		for range quick.runs / lives {
			w.time(status, w.paw, "status")
		}
		w.count(status, w.paw, "status")
		w.run(w.paw, "stop", sessionName)
		w.run(w.paw, "purge", sessionName, "--yes", "--tags")
		w.settle()
	}
	for range 2 * lives {
		w.extra = nil
		life(without, plainStatus)
		w.extra = ready
		life(with, status)
	}
	w.extra = nil
}

// blamedLines and blamedTurns are the lines of the measured file and the turns that have changed it.
const blamedLines, blamedTurns = 5000, 50

// measureBlame times paw blame of a file that turns of an agent have changed, beside git blame of
// the same file with a commit for each turn.
func (b *bench) measureBlame(w *world) {
	blame := b.job(fmt.Sprintf("blame, %d lines, %d turns", blamedLines, blamedTurns), budget{})
	git := b.job("  git blame, as many commits", budget{})
	blame.budget = budget{multiple: 2, of: git, plus: 10}
	var lines strings.Builder
	for i := range blamedLines {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	check(os.WriteFile(filepath.Join(w.repo, "big.txt"), []byte(lines.String()), 0o644))
	w.run("git", "add", "big.txt")
	w.run("git", "commit", "-q", "-m", "big")
	w.run(w.paw, "start", "--cli", "one=demo", "--name", sessionName, "--detach")
	w.run(w.paw, "stop", sessionName)
	for i := range blamedTurns {
		at := 1 + i*(blamedLines/blamedTurns)
		edit := fmt.Sprintf("sed -i '%da turn %d' big.txt", at, i+1)
		w.run(w.paw, "run", "one", "--prompt", "do: run "+edit)
		w.run("sh", "-c", edit+" && git commit -qam edit")
	}
	for range quick.runs {
		w.time(git, "git", "blame", "--porcelain", "big.txt")
		w.time(blame, w.paw, "blame", "one", "big.txt")
	}
	w.run(w.paw, "purge", sessionName, "--yes", "--tags", "--force")
}
