package worktree

import (
	"context"
	"fmt"
	"strings"

	"paw/worktree/git"
)

// NewCommit is a commit to be made.
type NewCommit struct {
	Tree    string
	Parents []string
	Message string
	Author  []string // GIT_AUTHOR_… items, nil for the user
	Sign    bool
	Own     bool // by paw, not by the user: nobody looks at it
}

// Commit makes a commit that no ref keeps. No hook runs.
func (m Manager) Commit(ctx context.Context, c NewCommit) (string, error) {
	args := []string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree", c.Tree}
	for _, parent := range c.Parents {
		args = append(args, "-p", parent)
	}
	if c.Sign {
		args = append(args, "-S")
	}
	repo := m.home().WithEnv(c.Author...)
	if c.Own {
		repo = m.home().WithEnv(snapshotAuthor...)
	}
	out, err := repo.Input(ctx, []byte(c.Message), append(args, "-F", "-")...)
	return strings.TrimSpace(out), err
}

// SignsCommits reports whether the user has told git to sign each commit.
func (m Manager) SignsCommits(ctx context.Context) (bool, error) {
	out, err := m.home().Line(ctx, "config", "--type=bool", "--get", "commit.gpgSign")
	if git.ExitCode(err) == 1 { // not set
		return false, nil
	}
	return out == "true", err
}

// TreeOf is the tree of a commit.
func (m Manager) TreeOf(ctx context.Context, commit string) (string, error) {
	return m.home().Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{tree}")
}

// CommitInfo is what a commit says of itself.
type CommitInfo struct {
	ID, Tree string
	Parents  []string
	Author   []string // GIT_AUTHOR_… items
	Message  string
}

// CommitsSince lists the commits of tip that are in none of the others, all by their ids, oldest first; merges are left out.
func (m Manager) CommitsSince(ctx context.Context, tip string, others ...string) ([]CommitInfo, error) {
	args := []string{
		"rev-list", "--reverse", "--topo-order", "--no-merges", "--no-commit-header", "--encoding=UTF-8",
		"--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%aD%x00%B%x00%x00", tip,
	}
	for _, other := range others {
		args = append(args, "^"+other)
	}
	out, err := m.home().Output(ctx, append(args, "--")...)
	if err != nil || out == "" {
		return nil, err
	}
	var commits []CommitInfo
	for _, record := range strings.Split(strings.TrimSuffix(out, "\x00\x00\n"), "\x00\x00\n") {
		fields := strings.Split(record, "\x00")
		if len(fields) != 7 {
			return nil, fmt.Errorf("git rev-list says %q, which is not understood", record)
		}
		commits = append(commits, CommitInfo{
			ID: fields[0], Tree: fields[1], Parents: strings.Fields(fields[2]), Message: fields[6],
			Author: []string{"GIT_AUTHOR_NAME=" + fields[3], "GIT_AUTHOR_EMAIL=" + fields[4], "GIT_AUTHOR_DATE=" + fields[5]},
		})
	}
	return commits, nil
}
