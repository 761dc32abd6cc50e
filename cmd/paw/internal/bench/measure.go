package main

import (
	"context"
	"os"
	"sort"
	"time"
)

// effort says how often a job is repeated: often, but not longer than patience
// when it is slow, and once in any case.
type effort struct {
	runs     int
	patience time.Duration
}

var (
	quick = effort{runs: 15, patience: 4 * time.Second}
	slow  = effort{runs: 5, patience: 4 * time.Second}
)

// measure repeats a command that leaves no trace.
func (w *world) measure(ctx context.Context, j *job, e effort, argv ...string) error {
	begun := time.Now()
	for i := range e.runs {
		if i > 0 && time.Since(begun) > e.patience {
			return nil
		}
		if err := w.time(ctx, j, argv...); err != nil {
			return err
		}
	}
	return nil
}

// time runs a command once, between two runs of git --version, and adds all
// three to the job.
func (w *world) time(ctx context.Context, j *job, argv ...string) error {
	before, err := w.spawn(ctx, false, "git", "--version")
	if err != nil {
		return err
	}
	took, err := w.spawn(ctx, false, argv...)
	if err != nil {
		return err
	}
	after, err := w.spawn(ctx, false, "git", "--version")
	if err != nil {
		return err
	}
	j.took = append(j.took, took)
	j.unit = append(j.unit, before, after)
	return nil
}

// spawn runs a command without pipes, which would cost this process time, and
// tells how long it took.
func (w *world) spawn(ctx context.Context, counting bool, argv ...string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, childTimeout)
	defer cancel()
	said, err := os.CreateTemp(w.dir, "stderr")
	if err != nil {
		return 0, err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd := w.command(ctx, counting, argv...)
	cmd.Stderr = said
	if w.stdin != "" {
		in, err := os.Open(w.stdin)
		if err != nil {
			return 0, err
		}
		defer in.Close()
		cmd.Stdin = in
	}
	begun := time.Now()
	err = cmd.Run()
	took := time.Since(begun)
	if err != nil {
		stderr, _ := os.ReadFile(said.Name())
		return 0, childError(argv, err, stderr)
	}
	return took, nil
}

// median of any order; the lower one of two; 0 of none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := append([]time.Duration(nil), all...)
	sort.Slice(sorted, func(i, k int) bool { return sorted[i] < sorted[k] })
	return sorted[(len(sorted)-1)/2]
}
