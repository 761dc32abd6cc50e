package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// removals is how many agents are made and removed; the last one is counted, not timed.
const removals = 5

// measureRemove times paw remove of an agent whose worktree is clean and has
// many files, beside the git status that it cannot do without.
func (b *bench) measureRemove(ctx context.Context, w *world) error {
	if err := w.run(ctx, nil, w.startArgs(removals)...); err != nil {
		return err
	}
	if err := w.run(ctx, nil, w.paw, "stop", sessionName); err != nil { // what runs is not removed
		return err
	}
	remove := b.job(fmt.Sprintf("remove, worktree of %d files", largeFiles), budget{})
	status := b.job("  one git status of it", budget{})
	remove.budget = budget{multiple: 2.5, of: status, counts: &counts{git: 2, tmux: 2}}
	for i := range removals {
		dir := filepath.Join(w.repo+".paw", sessionName, agentName(i))
		if err := w.time(ctx, status, "git", "-C", dir, "status", "--porcelain=v2", "--untracked-files=all", "--ignored=matching"); err != nil {
			return err
		}
		do := w.time
		if i == removals-1 {
			do = w.count
		}
		if err := do(ctx, remove, w.paw, "remove", agentName(i)); err != nil {
			return err
		}
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}
