package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed history.sh
var shellHistory string

// Size of a repository that has been worked in for long.
const (
	pastCommits  = 100_000
	pastLandings = 200
)

// Budgets for a small change, and for a forecast, in such a repository.
var (
	landLateCounts     = &counts{git: 11, tmux: 1, syncs: 5}
	forecastLateCounts = &counts{git: 4} // one for a commit that no turn has recorded
)

// measureHistory times paw land and paw forecast after many commits and landings, beside git's own merge.
func (b *bench) measureHistory(w *world) {
	w.feed(pastStream(pastCommits), "git", "-c", "core.fsync=none", "fast-import", "--quiet")
	w.run("git", "reset", "-q", "--hard")
	l := w.startLanding(2)
	for n := range pastLandings {
		check(os.WriteFile(filepath.Join(l.agent(0), fmt.Sprintf("past%d.txt", n)), []byte("new\n"), 0o644))
		w.run(w.paw, "land", agentName(0))
	}
	script := &job{name: "  git's own merge of it"}
	land := b.job(fmt.Sprintf("land, a small change, %d commits, %d landings", pastCommits, pastLandings), budget{multiple: 2, of: script, counts: landLateCounts})
	b.jobs = append(b.jobs, script)
	forecast := b.job("forecast there", budget{multiple: 2, of: script, counts: forecastLateCounts})
	w.repeat(landings, func(i int, do step) {
		l.small(l.worktree, 4*i)
		do(script, "sh", "-c", shellHistory, "history.sh", l.repo, l.worktree)
		l.small(l.agent(1), 4*i+1)
		w.run("git", "-C", l.agent(1), "add", "-A")
		w.run("git", "-C", l.agent(1), "commit", "-q", "-m", "work")
		do(forecast, w.paw, "forecast")
		w.run(w.paw, "land", agentName(1))
		l.small(l.agent(0), 4*i+2)
		do(land, w.paw, "land", agentName(0))
	})
}

// pastStream returns commits on top of main for git fast-import.
func pastStream(commits int) string {
	var s strings.Builder
	from := "from refs/heads/main^0\n"
	for i := range commits {
		text := fmt.Sprintf("commit %d\n", i)
		fmt.Fprintf(&s, "commit refs/heads/main\ncommitter bench <bench@localhost> %d +0000\ndata %d\n%s%sM 100644 inline past/%d.txt\ndata %d\n%s\n",
			1767225601+i, len(text), text, from, i%100, len(text), text)
		from = ""
	}
	return s.String()
}
