package main

import (
	"context"
	"fmt"
)

// lives is how often a session is started, crashed, recovered, stopped and purged.
const lives = 5

// step times a command, or counts its calls.
type step func(ctx context.Context, j *job, argv ...string) error

// measureLife times start, and for eight agents also recover after a crash and
// stop. What happens in between is not measured.
func (b *bench) measureLife(ctx context.Context, w *world, n int) error {
	var startLimit budget
	if n == 8 {
		startLimit.multiple = 90
	}
	start := b.job(fmt.Sprintf("start, %s", plural(n)), startLimit)
	var recover, stop *job
	if n == 8 {
		recover = b.job(fmt.Sprintf("recover after a crash, %s", plural(n)), budget{})
		stop = b.job(fmt.Sprintf("stop, %s", plural(n)), budget{multiple: 20})
	}
	for range lives {
		if err := w.live(ctx, w.time, n, start, recover, stop); err != nil {
			return err
		}
	}
	return w.live(ctx, w.count, n, start, recover, stop)
}

// live is one life of a session. Without a job, stop is not measured and there is no crash.
func (w *world) live(ctx context.Context, do step, n int, start, recover, stop *job) error {
	if err := do(ctx, start, w.startArgs(n)...); err != nil {
		return err
	}
	if err := w.expectAlive(ctx, n); err != nil {
		return err
	}
	if recover != nil {
		if err := w.crash(ctx); err != nil {
			return err
		}
		if err := do(ctx, recover, w.paw, "recover", sessionName, "--detach"); err != nil {
			return err
		}
		if err := w.expectAlive(ctx, n); err != nil {
			return err
		}
	}
	if stop != nil {
		if err := do(ctx, stop, w.paw, "stop", sessionName); err != nil {
			return err
		}
	} else if err := w.run(ctx, nil, w.paw, "stop", sessionName); err != nil {
		return err
	}
	if err := w.run(ctx, nil, w.paw, "purge", sessionName, "--yes"); err != nil {
		return err
	}
	return w.settle(ctx)
}
