package main

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
)

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
