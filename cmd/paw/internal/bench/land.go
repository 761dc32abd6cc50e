package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed land.sh
var shellLand string

const (
	landings    = 6 // number of small changes that land; the last one is counted, not timed
	manyFiles   = 10_000
	filesFolder = 100 // files in each folder
)

// Budgets for landing a small change, for the next one, with --remove, and for so many files that
// git packs them. Where the branch has moved since, a landing merges, and looks for reverts if others have moved it;
// no landing needs a process for each file.
var (
	landCounts       = &counts{git: 12, tmux: 1, syncs: 5}
	landAgainCounts  = &counts{git: 11, tmux: 1, syncs: 5}
	landRemoveCounts = &counts{git: 14, tmux: 3, syncs: 8}
	landManyCounts   = &counts{git: 12, tmux: 1, syncs: 7, deep: true}
)

// measureLand times paw land of a small change, the first one of an agent and the next one, beside
// a script that does the same with git, and with --remove.
func (b *bench) measureLand(w *world) {
	l := w.startLanding(landings)
	script := &job{name: "  the same with git"}
	land := b.job("land, a small change", budget{multiple: 2, of: script, counts: landCounts})
	b.jobs = append(b.jobs, script)
	again := b.job("land, the next small change", budget{multiple: 2, of: script, counts: landAgainCounts})
	remove := b.job("land --remove, a small change", budget{counts: landRemoveCounts})
	w.repeat(landings, func(i int, do step) {
		l.small(l.worktree, 4*i)
		do(script, l.script()...)
		for k, j := range []*job{land, again} {
			l.small(l.agent(i), 4*i+1+k)
			do(j, w.paw, "land", agentName(i))
		}
		l.small(l.agent(i), 4*i+3)
		do(remove, w.paw, "land", agentName(i), "--remove")
		w.settle()
	})
}

// measureLandMany times paw land of many new files, of as many again, and of nothing new, beside git.
func (b *bench) measureLandMany(w *world) {
	l := w.startLanding(1)
	for i, name := range []string{"land, %d new files", "land, %d new files more"} {
		land := b.job(fmt.Sprintf(name, manyFiles), budget{})
		script := b.job("  the same with git", budget{})
		land.budget = budget{multiple: 2, of: script, counts: landManyCounts}
		nothing := b.job("  once more, nothing new", budget{})
		adds := b.job("    git add -A of it in an empty index", budget{})
		nothing.budget = budget{multiple: 1, of: adds}

		l.many(l.worktree, i)
		w.time(script, l.script()...)
		l.many(l.agent(0), i)
		w.time(land, w.paw, "land", agentName(0))
		w.run("sync") // the disk still writes the files, which would be in the way of what follows
		for range landings {
			w.time(nothing, w.paw, "land", agentName(0))
			w.time(adds, "sh", "-c", `rm -f "$1"; GIT_INDEX_FILE="$1" git -C "$2" add -A`, "add.sh", filepath.Join(w.dir, "empty"), l.agent(0))
		}
		l.many(l.agent(0), 10+i)
		w.count(land, w.paw, "land", agentName(0))
	}
}

// landingWorld has stopped agents, and one worktree unknown to paw, in which plain git does the
// same work.
type landingWorld struct {
	*world
	worktree string
}

// startLanding starts and stops agents, so that their work can land.
func (w *world) startLanding(agents int) *landingWorld {
	w.run(w.startArgs(agents)...)
	w.run(w.paw, "stop", sessionName) // work of an agent that may be in a turn does not land
	l := &landingWorld{w, w.repo + ".shell"}
	w.run("git", "worktree", "add", "-q", "-b", "shell", l.worktree)
	return l
}

// agent returns the worktree of the i-th agent.
func (l *landingWorld) agent(i int) string {
	return filepath.Join(l.repo+".paw", sessionName, agentName(i))
}

// script returns the shell command that merges the plain git worktree into the checked out branch.
func (l *landingWorld) script() []string {
	return []string{"sh", "-c", shellLand, "land.sh", l.repo, l.worktree}
}

// small changes one file in a worktree and adds another.
func (l *landingWorld) small(dir string, n int) {
	check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("d0/f%d.txt", n%smallFiles)), fmt.Appendf(nil, "change %d\n", n), 0o644))
	check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("new%d-%s.txt", n, filepath.Base(dir))), fmt.Appendf(nil, "new %d\n", n), 0o644))
}

// many adds many small files to a worktree.
func (l *landingWorld) many(dir string, n int) {
	top := filepath.Join(dir, fmt.Sprintf("many%d-%s", n, filepath.Base(dir)))
	for i := range manyFiles {
		folder := filepath.Join(top, fmt.Sprint(i/filesFolder))
		if i%filesFolder == 0 {
			check(os.MkdirAll(folder, 0o755))
		}
		check(os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), fmt.Appendf(nil, "file %d of %s %d\n", i, dir, n), 0o644))
	}
}

// forecasts is the number of forecasts. The last one is counted, not timed.
const forecasts = 6

// measureForecast times paw forecast of agents that have each committed work: it merges each pair
// of agents, and each agent with the target.
func (b *bench) measureForecast(w *world, agents int) {
	w.run(w.startArgs(agents)...)
	w.run(w.paw, "stop", sessionName)
	for i := range agents {
		dir := filepath.Join(w.repo+".paw", sessionName, agentName(i))
		for k := range 20 {
			name := filepath.Join(dir, fmt.Sprintf("d%d/f%d.txt", i, 100*i+k))
			check(os.WriteFile(name, []byte("by "+agentName(i)+"\n"), 0o644))
		}
		w.run("git", "-C", dir, "commit", "-q", "-a", "-m", "work of "+agentName(i))
	}
	j := b.job(fmt.Sprintf("forecast, %s, %d files", plural(agents), largeFiles), budget{multiple: 100, counts: &counts{git: 10}})
	w.repeat(forecasts, func(_ int, measured step) { measured(j, w.paw, "forecast") })
}

// removals is the number of agents that are removed. The last removal is counted, not timed.
const removals = 5

// measureRemove times paw remove of an agent with a clean worktree of many files, beside the git
// status that a removal needs.
func (b *bench) measureRemove(w *world) {
	w.run(w.startArgs(removals)...)
	w.run(w.paw, "stop", sessionName) // running agents are not removed
	remove := b.job(fmt.Sprintf("remove, worktree of %d files", largeFiles), budget{})
	status := b.job("  one git status of it", budget{})
	remove.budget = budget{multiple: 2.5, of: status, counts: &counts{git: 3, tmux: 2}}
	w.repeat(removals, func(i int, measured step) {
		dir := filepath.Join(w.repo+".paw", sessionName, agentName(i))
		w.time(status, "git", "-C", dir, "status", "--porcelain=v2", "--untracked-files=all", "--ignored=matching")
		measured(remove, w.paw, "remove", agentName(i))
		w.settle()
	})
}
