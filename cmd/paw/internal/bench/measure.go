package main

import (
	"context"
	"os"
	"slices"
	"time"
)

// effort says how often a job is repeated: at most often, at most until patience is over, and at
// least once.
type effort struct {
	runs     int
	patience time.Duration
}

var (
	quick = effort{runs: 15, patience: 4 * time.Second}
	slow  = effort{runs: 5, patience: 4 * time.Second}
)

// measure repeats a command that changes nothing.
func (w *world) measure(j *job, e effort, argv ...string) {
	begun := time.Now()
	for i := range e.runs {
		if i > 0 && time.Since(begun) > e.patience {
			return
		}
		w.time(j, argv...)
	}
}

// time runs a command between two runs of git --version, and adds the three times to the job.
func (w *world) time(j *job, argv ...string) {
	before := w.spawn(false, "git", "--version")
	took := w.spawn(false, argv...)
	after := w.spawn(false, "git", "--version")
	j.took = append(j.took, took)
	j.unit = append(j.unit, before, after)
}

// spawn runs a command without pipes, which would cost this process time, and returns how long it
// took.
func (w *world) spawn(counting bool, argv ...string) time.Duration {
	ctx, cancel := context.WithTimeout(w.ctx, childTimeout)
	defer cancel()
	said := must(os.CreateTemp(w.dir, "stderr"))
	defer os.Remove(said.Name())
	defer said.Close()
	cmd := w.command(ctx, counting, argv...)
	cmd.Stderr = said
	if w.stdin != "" {
		in := must(os.Open(w.stdin))
		defer in.Close()
		cmd.Stdin = in
	}
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	if err != nil {
		stderr, _ := os.ReadFile(said.Name())
		check(childError(argv, err, stderr))
	}
	return took
}

// median returns the median of times in any order: the lower one of two, 0 of none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(all))[(len(all)-1)/2]
}
