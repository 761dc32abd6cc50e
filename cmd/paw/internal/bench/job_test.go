package main

import (
	"strings"
	"testing"
	"time"
)

func TestMedianIgnoresOrderAndOutliers(t *testing.T) {
	for _, c := range []struct {
		all  []time.Duration
		want time.Duration
	}{{nil, 0}, {[]time.Duration{7}, 7}, {[]time.Duration{900, 1, 2}, 2}, {[]time.Duration{4, 2}, 2}} {
		if got := median(c.all); got != c.want {
			t.Errorf("median(%v) = %d, want %d", c.all, got, c.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	ms := func(n ...time.Duration) (all []time.Duration) {
		for _, one := range n {
			all = append(all, one*time.Millisecond)
		}
		return all
	}
	both := budget{multiple: 12, counts: statusCounts}
	files := budget{counts: &counts{tmux: 2, lists: 1, syncs: 2}}
	for _, c := range []struct {
		name    string
		job     job
		verdict string
		fails   bool
	}{
		{"no budget", job{took: ms(50), unit: ms(1)}, "", false},
		{"within both", job{budget: both, took: ms(12), unit: ms(1, 1), calls: calls{"tmux list-panes"}}, "ok", false},
		{"slow", job{budget: both, took: ms(13), unit: ms(1, 1), calls: calls{"tmux list-panes"}}, "over (time)", false},
		{"a git", job{budget: both, took: ms(2), unit: ms(1), calls: calls{"tmux list-panes", "git tag"}}, "over (processes)", true},
		{"two tmux", job{budget: both, took: ms(2), unit: ms(1), calls: calls{"tmux a", "tmux b"}}, "over (processes)", true},
		{"two lists of panes", job{budget: files, calls: calls{"tmux list-panes", "tmux x ; list-pane -a"}}, "over (processes)", true},
		{"three files", job{budget: files, calls: calls{}, syncs: new(3)}, "over (processes)", true},
		{"two files", job{budget: files, calls: calls{"tmux x ; list-pane -a"}, syncs: new(2)}, "ok", false},
		{"42 files opened", job{budget: budget{counts: &counts{opens: 41}}, calls: calls{}, opens: new(42)}, "over (processes)", true},
		{"41 files opened", job{budget: budget{counts: &counts{opens: 41}}, calls: calls{}, opens: new(41)}, "ok", false},
		{"as fast as another job", job{budget: budget{multiple: 1, of: &job{took: ms(5)}}, took: ms(5), unit: ms(1)}, "ok", false},
		{"slower than it", job{budget: budget{multiple: 1, of: &job{took: ms(5)}}, took: ms(6), unit: ms(1)}, "over (time)", false},
		{"slow and a git", job{budget: both, took: ms(99), unit: ms(1), calls: calls{"git tag"}}, "over (processes, time)", true},
	} {
		if got := c.job.verdict(); got != c.verdict {
			t.Errorf("%s: verdict %q, want %q", c.name, got, c.verdict)
		}
		if got := c.job.countsOver(); got != c.fails {
			t.Errorf("%s: fails the run: %v, want %v", c.name, got, c.fails)
		}
	}
}

func TestTableIsAligned(t *testing.T) {
	var out strings.Builder
	writeTable(&out, []*job{
		{name: "status", budget: budget{counts: statusCounts}, took: []time.Duration{time.Millisecond}, unit: []time.Duration{time.Millisecond}, calls: calls{"tmux x"}},
		{name: "a much longer job", took: []time.Duration{12345 * time.Millisecond}, unit: []time.Duration{time.Millisecond}},
	})
	lines := strings.Split(out.String(), "\n")
	if len(lines) < 3 {
		t.Fatalf("table:\n%s", out.String())
	}
	for _, column := range []string{" ms", "x git", "tmux"} {
		end := strings.Index(lines[0], column) + len(column)
		for _, line := range lines[1:3] {
			if len(line) < end || line[end-1] == ' ' || (len(line) > end && line[end] != ' ') {
				t.Errorf("column %q does not end at %d in %q", column, end, line)
			}
		}
	}
	if !strings.Contains(lines[1], "0 git, 1 tmux") || !strings.HasSuffix(strings.TrimSpace(lines[1]), "ok") {
		t.Errorf("budget and verdict are missing: %q", lines[1])
	}
}
