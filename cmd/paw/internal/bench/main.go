// Command bench times paw's jobs on real git and real tmux. Every time is also
// given as a multiple of one git --version of the same minute, so that a busy
// machine does not look like a slow paw, and every job's git and tmux processes
// are counted. It fails when a count is over its budget, never because of time.
//
//	PAW=bin/paw go run ./cmd/paw/internal/bench [-calls] [-only TEXT]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	calls := flag.Bool("calls", false, "also list the git and tmux calls of each job")
	only := flag.String("only", "", "run only the groups whose name contains `TEXT` (status, start, blame, desk, remove, forecast, hook, send, queue, land)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	over, err := run(ctx, os.Getenv("PAW"), *only, *calls)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: error: %v\n", err)
	}
	if over || err != nil {
		stop()
		os.Exit(1)
	}
}

// run does every group of jobs in a folder of its own and prints one table. It
// tells whether a count is over its budget. The table is printed also when a
// group could not be finished.
func run(ctx context.Context, paw, only string, calls bool) (over bool, err error) {
	if paw == "" {
		return false, errors.New("PAW: not set to the paw to measure (make bench does that)")
	}
	var size os.FileInfo
	var b *bench
	if err := attempt(func() {
		paw = must(filepath.Abs(paw))
		size = must(os.Stat(paw))
		b = newBench(ctx, paw)
	}); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	err = b.runGroups(only)
	if len(b.jobs) == 0 {
		return false, err
	}
	writeTable(os.Stdout, b.jobs)
	fmt.Printf("\n%.1f MB is the size of %s.\n", float64(size.Size())/1e6, filepath.Base(paw))
	if calls {
		writeCalls(os.Stdout, b.jobs)
	}
	for _, j := range b.jobs {
		over = over || j.countsOver()
	}
	return over, err
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
	groups = append(groups, group{"land late", smallFiles, b.measureHistory})
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
