package worktree

import (
	"context"
	"strings"
)

// RefsWith are the branches of this repository and of remotes and the tags, by their full names, that have a commit.
func (m Manager) RefsWith(ctx context.Context, commit string) ([]string, error) {
	out, err := m.home().Output(ctx, "for-each-ref", "--contains="+commit, "--format=%(refname)", "refs/heads/", "refs/remotes/", "refs/tags/")
	return strings.Fields(out), err
}
