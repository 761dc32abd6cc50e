package worktree

import (
	"context"
	"errors"
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
	var failed *git.Error
	switch {
	case !errors.As(err, &failed):
	case failed.Said("empty ident name") || failed.Said("Please tell me who you are") || failed.Said("auto-detection is disabled"):
		err = fmt.Errorf("%w: %w", ErrNoIdentity, err)
	case c.Sign && (failed.Said("failed to sign") || failed.Said("gpg") || failed.Said("signing")):
		err = fmt.Errorf("%w: %w", ErrNotSigned, err)
	}
	return strings.TrimSpace(out), err
}

// What keeps git from making a commit, beside its own words.
var (
	ErrNoIdentity = errors.New("git does not know by whom the commit is")
	ErrNotSigned  = errors.New("the commit could not be signed")
)

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

// IsCommitOf reports whether a commit has a tree and one parent, all by their ids.
func (m Manager) IsCommitOf(ctx context.Context, commit, tree, parent string) (bool, error) {
	if !isOID(commit) {
		return false, &RefError{Ref: commit}
	}
	out, err := m.home().Line(ctx, "rev-list", "--no-walk", "--no-commit-header", "--format=%T %P", commit, "--")
	return out == tree+" "+parent, err
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

// Touched says which commit changed a path last.
type Touched struct {
	Commit, Author, Title string
	Agent                 string // of its trailer Paw-Agent, "" for none
}

// LastTouch is the newest commit of tip since another one that changed a path, nil when there is none.
func (m Manager) LastTouch(ctx context.Context, since, tip, path string) (*Touched, error) {
	out, err := m.home().Line(ctx, "--literal-pathspecs", "-c", "log.showSignature=false", "log", "--max-count=1", "--no-color", "--encoding=UTF-8",
		"--format=%h%x00%an%x00%s%x00%(trailers:key=Paw-Agent,valueonly,separator=%x2C)", since+".."+tip, "--", path)
	if err != nil || out == "" {
		return nil, err
	}
	fields := strings.Split(out, "\x00")
	if len(fields) != 4 {
		return nil, fmt.Errorf("git log says %q, which is not understood", out)
	}
	return &Touched{Commit: fields[0], Author: fields[1], Title: fields[2], Agent: fields[3]}, nil
}

// MergeBase is a common ancestor of two commits, "" when they have none.
func (m Manager) MergeBase(ctx context.Context, one, other string) (string, error) {
	base, err := m.home().Line(ctx, "merge-base", one, other)
	if git.ExitCode(err) == 1 {
		return "", nil
	}
	return base, err
}
