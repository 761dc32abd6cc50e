package worktree

import (
	"context"
	"strconv"
	"strings"
)

// Lines are numbers of lines.
type Lines struct{ Added, Deleted int }

// ChangedLines counts the lines by which the files that git follows in a worktree differ from a commit. Files that are new
// and not staged have none, nor have binary files.
func (m Manager) ChangedLines(ctx context.Context, path, from string) (Lines, error) {
	var lines Lines
	if _, err := verified(path, m.Repository.CommonDir, ""); err != nil {
		return lines, err
	}
	out, err := in(path).Output(ctx, "diff-index", "--numstat", "--no-ext-diff", "--no-textconv", "--no-relative", "--no-renames",
		"--ignore-submodules=all", "--end-of-options", from, "--")
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		added, _ := strconv.Atoi(f[0]) // "-" for a binary file
		deleted, _ := strconv.Atoi(f[1])
		lines.Added, lines.Deleted = lines.Added+added, lines.Deleted+deleted
	}
	return lines, err
}
