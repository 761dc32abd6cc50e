package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

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
	folder := filepath.Join(w.dir, "ready", "paw")
	check(os.MkdirAll(folder, 0o755))
	plain := must(os.ReadFile(filepath.Join(w.dir, "config", "paw", "config.toml")))
	ready := "\n[worktree]\nports = 10\nenv = { PORT = \"{port}\", API_PORT = \"{port+1}\", DB = \"{name}\" }\n"
	check(os.WriteFile(filepath.Join(folder, "config.toml"), append(plain, ready...), 0o644))
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
		w.extra = []string{"XDG_CONFIG_HOME=" + filepath.Dir(folder)}
		life(with, status)
	}
	w.extra = nil
}

// blamedLines and blamedTurns are the lines of the measured file and the turns that have changed it.
const blamedLines, blamedTurns = 5000, 50

// measureBlame times paw blame of a file that turns of an agent have changed, beside git blame of the same file with a commit for each turn.
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
