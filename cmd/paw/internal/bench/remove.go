package main

import (
	"fmt"
	"path/filepath"
)

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
	for i := range removals {
		dir := filepath.Join(w.repo+".paw", sessionName, agentName(i))
		w.time(status, "git", "-C", dir, "status", "--porcelain=v2", "--untracked-files=all", "--ignored=matching")
		do := w.time
		if i == removals-1 {
			do = w.count
		}
		do(remove, w.paw, "remove", agentName(i))
		w.settle()
	}
}
