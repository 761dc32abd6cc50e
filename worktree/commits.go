package worktree

import (
	"context"
	"strconv"
	"strings"
)

// Work is what a commit and a snapshot on top of it have beyond a base, for people to read.
type Work struct {
	Commits     []string // "ID TITLE" of the newest ones, newest first
	CommitCount int      // of all of them
	Uncommitted []string // "LETTER PATH" of each file that the snapshot has otherwise; the letter is that of git status
}

// Work lists what commit has beyond base, with the titles of at most so many commits, and what snapshot has beyond
// commit; a snapshot of "" has nothing. The user's settings for logs have no say. Paths are as git has them: they may
// hold any character but NUL.
func (m Manager) Work(ctx context.Context, base, commit, snapshot string, most int) (Work, error) {
	var w Work
	since := base + ".." + commit
	count, err := m.home().Line(ctx, "rev-list", "--count", "--end-of-options", since, "--")
	if err != nil {
		return w, err
	}
	if w.CommitCount, err = strconv.Atoi(count); err != nil {
		return w, err
	}
	if w.CommitCount > 0 && most > 0 {
		log, err := m.home().Output(ctx, "-c", "log.showSignature=false", "log", "--no-color", "--no-decorate", "--encoding=UTF-8",
			"--format=%h %s", "--max-count="+strconv.Itoa(most), "--end-of-options", since, "--")
		if err != nil {
			return w, err
		}
		w.Commits = strings.Split(strings.TrimRight(log, "\n"), "\n")
	}
	if snapshot == "" || snapshot == commit {
		return w, nil
	}
	changed, err := m.home().Output(ctx, "diff-tree", "-r", "-z", "--name-status", "--no-renames", "--ignore-submodules=none",
		"-O/dev/null", "--end-of-options", commit, snapshot, "--")
	if err != nil {
		return w, err
	}
	fields := strings.Split(strings.TrimRight(changed, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		w.Uncommitted = append(w.Uncommitted, fields[i]+" "+fields[i+1])
	}
	return w, nil
}
