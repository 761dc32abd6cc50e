package worktree

import (
	"context"
	"strings"

	"paw/worktree/git"
)

// excludeDecoration is git's setting for refs that git log does not name.
const excludeDecoration = "log.excludeDecoration"

// Undecorated reports whether git log leaves the refs of a pattern out, by the user's settings.
func (m Manager) Undecorated(ctx context.Context, pattern string) (bool, error) {
	out, err := m.home().Output(ctx, "config", "--get-all", excludeDecoration)
	if git.ExitCode(err) == 1 { // it is not set
		return false, nil
	}
	for line := range strings.Lines(out) {
		if strings.TrimSpace(line) == pattern {
			return true, err
		}
	}
	return false, err
}

// Undecorate has git log leave the refs of a pattern out, in this repository.
func (m Manager) Undecorate(ctx context.Context, pattern string) error {
	return m.home().Run(ctx, "config", "--add", excludeDecoration, pattern)
}
