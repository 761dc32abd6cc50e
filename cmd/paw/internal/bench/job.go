package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// job is a row of the table: the measurements of one command, and its budget.
type job struct {
	name   string // indented for a command to compare with
	budget budget
	took   []time.Duration // times of the command
	unit   []time.Duration // times of git --version around the command
	calls  calls           // nil if not counted
	syncs  *int            // files that paw has synced to the disk, nil if not counted
	opens  *int            // files of the world that paw has opened, nil if not counted
}

// budget is the most that a job may cost.
type budget struct {
	multiple float64       // most, as a multiple of git --version or of the job in of; 0 for no limit
	of       *job          // job that multiple refers to, nil for git --version
	plus     float64       // further multiples of git --version
	most     time.Duration // most, as a time; 0 for no limit
	counts   *counts       // nil for none
}

// counts are the most processes of a job and, if more than 0, the most pane lists, synced files and
// opened files. Files count for paw alone, or if deep for its children, too.
type counts struct {
	git, tmux, lists, syncs, opens int
	deep                           bool
}

// traced reports whether the files of a job are counted.
func (c *counts) traced() bool { return c != nil && (c.syncs > 0 || c.opens > 0) }

// statusCounts holds for any number of agents: paw status asks tmux once and git never.
var statusCounts = &counts{git: 0, tmux: 1}

func (j *job) milliseconds() float64 { return float64(median(j.took)) / 1e6 }

// multiple returns the time as a multiple of git --version, 0 if nothing was measured.
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

// countsOver reports whether a count is over its budget. Only counts fail a run, because times are
// not exact.
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

// verdict says whether the job is within its budget, "" without one.
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

// median returns the median of times in any order: the lower one of two, 0 of none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(all))[(len(all)-1)/2]
}

// writeTable prints one line for each job, the numbers aligned to the right.
func writeTable(out io.Writer, jobs []*job) {
	width := len("job")
	for _, j := range jobs {
		width = max(width, len(j.name))
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%-*s\truns\tms\tx git\tgit\ttmux\t  budget\n", width, "job")
	for _, j := range jobs {
		git, tmux := "-", "-"
		if j.calls != nil {
			git, tmux = strconv.Itoa(j.calls.of("git")), strconv.Itoa(j.calls.of("tmux"))
		}
		last := ""
		if verdict := j.verdict(); verdict != "" {
			last = fmt.Sprintf("  %-15s  %s", j.budget, verdict)
		}
		if c := j.budget.counts; c != nil && j.calls != nil {
			var found []string
			if c.lists > 0 {
				found = append(found, fmt.Sprintf("%d list-panes", j.calls.lists()))
			}
			if c.syncs > 0 && j.syncs != nil {
				found = append(found, fmt.Sprintf("%d fsync", *j.syncs))
			}
			if c.opens > 0 && j.opens != nil {
				found = append(found, fmt.Sprintf("%d opened", *j.opens))
			}
			if len(found) > 0 {
				last += " (" + strings.Join(found, ", ") + ")"
			}
		}
		fmt.Fprintf(t, "%-*s\t%d\t%.1f\t%.1f\t%s\t%s\t%s\n", width, j.name, len(j.took), j.milliseconds(), j.multiple(), git, tmux, last)
	}
	_ = t.Flush()
	fmt.Fprint(out, "\nms: median. x git: as a multiple of one git --version, run before and after each. git, tmux: processes that the job starts.\n")
}

// gitSetting is one of the many -c options that paw gives to git.
var gitSetting = regexp.MustCompile(` -c [a-zA-Z0-9]+\.[a-zA-Z.]+=\S*`)

// writeCalls lists the calls behind the counts of paw's own jobs.
func writeCalls(out io.Writer, jobs []*job) {
	for _, j := range jobs {
		if len(j.calls) == 0 || strings.HasPrefix(j.name, " ") {
			continue
		}
		fmt.Fprintf(out, "\n%s\n", j.name)
		for _, call := range j.calls {
			fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(gitSetting.ReplaceAllString(call, ""), "\n", " "))
		}
	}
}
