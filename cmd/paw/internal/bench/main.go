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
