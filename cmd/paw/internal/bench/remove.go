package main

import (
	"context"
	"fmt"
)

// removals is how many agents are made and removed; the last one is counted, not timed.
const removals = 5

// measureRemove times paw remove of an agent whose worktree is clean and has many files.
func (b *bench) measureRemove(ctx context.Context, w *world) error {
	if err := w.run(ctx, nil, w.startArgs(removals)...); err != nil {
		return err
	}
	j := b.job(fmt.Sprintf("remove, worktree of %d files", largeFiles), budget{multiple: 8})
	for i := range removals {
		do := w.time
		if i == removals-1 {
			do = w.count
		}
		if err := do(ctx, j, w.paw, "remove", agentName(i)); err != nil {
			return err
		}
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}
