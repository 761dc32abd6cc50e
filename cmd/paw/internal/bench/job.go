package main

import (
	"fmt"
	"strings"
	"time"
)

// job is one row: what was measured of one command, and what it may cost.
type job struct {
	name   string // that of something to compare with is indented
	budget budget
	took   []time.Duration // of the command
	unit   []time.Duration // of git --version around it
	calls  calls           // nil when not counted
	syncs  *int            // files that paw brought to the disk, nil when not counted
	opens  *int            // files of the world that paw opened, nil when not counted
}

// budget is what a job may cost: a multiple of git --version or of another job, and processes.
type budget struct {
	multiple float64       // 0 for none
	of       *job          // what multiple is of, nil for git --version
	plus     float64       // so many times git --version beside that
	most     time.Duration // 0 for none
	counts   *counts       // nil for none
}

// counts are the most processes of a job and, where more than 0, the most lists of panes, files brought to the disk and files
// opened: by paw alone, or where deep by the programs that it starts as well.
type counts struct {
	git, tmux, lists, syncs, opens int
	deep                           bool
}

// traced reports whether what a job does with files is counted.
func (c *counts) traced() bool { return c != nil && (c.syncs > 0 || c.opens > 0) }

// statusCounts holds for any number of agents: paw status asks tmux once and git never.
var statusCounts = &counts{git: 0, tmux: 1}

func (j *job) milliseconds() float64 { return float64(median(j.took)) / 1e6 }

// multiple of git --version; 0 when nothing was measured.
func (j *job) multiple() float64 {
	unit := median(j.unit)
	if unit == 0 {
		return 0
	}
	return float64(median(j.took)) / float64(unit)
}

func (j *job) timeOver() bool {
	cost := j.multiple()
	if j.budget.of != nil {
		beside := j.budget.plus * float64(median(j.unit)) / 1e6
		cost = (j.milliseconds() - beside) / max(j.budget.of.milliseconds(), 1e-6)
	}
	return j.budget.multiple > 0 && cost > j.budget.multiple || j.budget.most > 0 && median(j.took) > j.budget.most
}

// countsOver is the only thing that fails a run: counts are exact, times are not.
func (j *job) countsOver() bool {
	c := j.budget.counts
	if c == nil || j.calls == nil {
		return false
	}
	processes := j.calls.of("git") > c.git || j.calls.of("tmux") > c.tmux
	most := func(count *int, budget int) bool { return budget > 0 && count != nil && *count > budget }
	return processes || c.lists > 0 && j.calls.lists() > c.lists || most(j.syncs, c.syncs) || most(j.opens, c.opens)
}

func (b budget) String() string {
	var parts []string
	switch {
	case b.of != nil:
		parts = append(parts, fmt.Sprintf("%gx %s", b.multiple, strings.TrimSpace(b.of.name)))
		if b.plus > 0 {
			parts = append(parts, fmt.Sprintf("%gx", b.plus))
		}
	case b.multiple > 0:
		parts = append(parts, fmt.Sprintf("%gx", b.multiple))
	}
	if b.most > 0 {
		parts = append(parts, b.most.String())
	}
	if b.counts != nil {
		parts = append(parts, fmt.Sprintf("%d git, %d tmux", b.counts.git, b.counts.tmux))
		if b.counts.lists > 0 {
			parts = append(parts, fmt.Sprintf("%d list-panes", b.counts.lists))
		}
		if b.counts.syncs > 0 {
			parts = append(parts, fmt.Sprintf("%d fsync", b.counts.syncs))
		}
		if b.counts.opens > 0 {
			parts = append(parts, fmt.Sprintf("%d opened", b.counts.opens))
		}
	}
	return strings.Join(parts, ", ")
}

// verdict is "" for a job without a budget.
func (j *job) verdict() string {
	switch {
	case j.budget == budget{}:
		return ""
	case j.countsOver() && j.timeOver():
		return "over (processes, time)"
	case j.countsOver():
		return "over (processes)"
	case j.timeOver():
		return "over (time)"
	}
	return "ok"
}
