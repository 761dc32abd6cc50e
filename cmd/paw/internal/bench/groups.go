package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// bench is one run: the paw it measures, its folder, and the results so far.
type bench struct {
	ctx   context.Context
	paw   string
	dir   string // short, because the paths of sockets begin with it
	shims shims
	jobs  []*job
}

func newBench(ctx context.Context, paw string) *bench {
	dir := must(os.MkdirTemp("", "pawb"))
	return &bench{ctx: ctx, paw: paw, dir: dir, shims: newShims(dir)}
}

// close removes the folder. Processes that still write into the folder, to delete in the
// background, get a moment to end.
func (b *bench) close() error {
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(pollEvery) {
		if err = os.RemoveAll(b.dir); err == nil {
			return nil
		}
	}
	return err
}

// job adds a row to the table.
func (b *bench) job(name string, budget budget) *job {
	j := &job{name: name, budget: budget}
	b.jobs = append(b.jobs, j)
	return j
}

// runGroups runs the groups one after the other, each with a world of its own.
// Their files stay to the end, and the group that deletes most comes last: for
// five minutes ext4 looks for a new file's inode past all that were just deleted
// (recently_deleted in fs/ext4/ialloc.c), which trebles the time of a start.
func (b *bench) runGroups(only string) error {
	type group struct {
		name  string
		files int // number of files in the repository
		run   func(w *world)
	}
	var groups []group
	for _, agents := range []int{1, 10, 50, 200} {
		groups = append(groups, group{fmt.Sprintf("status of %d", agents), smallFiles, func(w *world) { b.measureStatus(w, agents) }})
	}
	groups = append(groups, group{fmt.Sprintf("status beside %d sessions", otherSessions), smallFiles, b.measureStatusByPlace})
	groups = append(groups, group{"status of claude", smallFiles, b.measureClaude})
	groups = append(groups, group{"start of one", smallFiles, b.measureSingle})
	for _, agents := range []int{2, 8} {
		groups = append(groups, group{fmt.Sprintf("start of %d", agents), smallFiles, func(w *world) { b.measureLife(w, agents) }})
	}
	groups = append(groups, group{"start with ports", smallFiles, b.measureReady}, group{"blame", smallFiles, b.measureBlame})
	groups = append(groups, group{"desk", smallFiles, func(w *world) { b.measureDesk(w, 200) }})
	for _, files := range []int{smallFiles, middleFiles, largeFiles} {
		groups = append(groups, group{fmt.Sprintf("hook in %d files", files), files, func(w *world) { b.measureHooks(w, files) }})
	}
	groups = append(groups, group{"send", smallFiles, b.measureSend}, group{"queue", smallFiles, b.measureQueue})
	groups = append(groups, group{"land of a small change", smallFiles, b.measureLand})
	groups = append(groups, group{"land of many files", smallFiles, b.measureLandMany})
	groups = append(groups, group{"forecast", largeFiles, func(w *world) { b.measureForecast(w, 10) }})
	groups = append(groups, group{"remove", largeFiles, b.measureRemove})
	for i, g := range groups {
		if !strings.Contains(g.name, only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s ...\n", g.name)
		if err := attempt(func() {
			w := b.newWorld(fmt.Sprint(i), g.files)
			defer w.end()
			g.run(w)
		}); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return nil
}
