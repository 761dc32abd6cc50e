package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// bench is one run: the paw it measures, the folder it works in and what it has
// measured so far.
type bench struct {
	paw   string
	dir   string // short, because sockets lie in it
	shims shims
	jobs  []*job
}

func newBench(paw string) (*bench, error) {
	dir, err := os.MkdirTemp("", "pawb")
	if err != nil {
		return nil, err
	}
	b := &bench{paw: paw, dir: dir}
	if b.shims, err = newShims(dir); err != nil {
		return nil, err
	}
	return b, nil
}

// close removes the folder. Something that still writes into it (a deletion in
// the background) gets a moment to end.
func (b *bench) close() error {
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(pollEvery) {
		if err = os.RemoveAll(b.dir); err == nil {
			return nil
		}
	}
	return err
}

// job is a new row of the table.
func (b *bench) job(name string, budget budget) *job {
	j := &job{name: name, budget: budget}
	b.jobs = append(b.jobs, j)
	return j
}

// runGroups runs the groups one after the other, each with a world of its own
// that is gone when the next begins.
func (b *bench) runGroups(ctx context.Context, only string) error {
	type group struct {
		name  string
		files int // in the repository
		run   func(ctx context.Context, w *world) error
	}
	var groups []group
	for _, agents := range []int{1, 10, 50, 200} {
		groups = append(groups, group{fmt.Sprintf("status of %d", agents), smallFiles, func(ctx context.Context, w *world) error {
			return b.measureStatus(ctx, w, agents)
		}})
	}
	groups = append(groups, group{fmt.Sprintf("status beside %d sessions", otherSessions), smallFiles, b.measureStatusByPlace})
	for _, agents := range []int{2, 8} {
		groups = append(groups, group{fmt.Sprintf("start of %d", agents), smallFiles, func(ctx context.Context, w *world) error {
			return b.measureLife(ctx, w, agents)
		}})
	}
	groups = append(groups, group{"desk", smallFiles, func(ctx context.Context, w *world) error { return b.measureDesk(ctx, w, 200) }})
	groups = append(groups, group{"remove", largeFiles, b.measureRemove})
	groups = append(groups, group{"forecast", largeFiles, func(ctx context.Context, w *world) error { return b.measureForecast(ctx, w, 10) }})
	for _, files := range []int{smallFiles, middleFiles, largeFiles} {
		limit := budget{} // of the end of a turn that changed a file
		if files == smallFiles {
			limit.multiple = 15
		}
		groups = append(groups, group{fmt.Sprintf("hook in %d files", files), files, func(ctx context.Context, w *world) error {
			return b.measureHooks(ctx, w, files, limit)
		}})
	}
	for i, g := range groups {
		if !strings.Contains(g.name, only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s ...\n", g.name)
		if err := b.runGroup(ctx, fmt.Sprint(i), g.files, g.run); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return nil
}

func (b *bench) runGroup(ctx context.Context, name string, files int, run func(context.Context, *world) error) error {
	w, err := b.newWorld(ctx, name, files)
	if err != nil {
		return err
	}
	defer w.end(context.WithoutCancel(ctx))
	return run(ctx, w)
}
