package worktree

import (
	"context"
	"strings"
)

// WorktreeHead returns the commit that HEAD of the worktree at path is at. It
// reads the files of the ref store, and starts git only where those do not tell.
func (m Manager) WorktreeHead(ctx context.Context, path string) (string, error) {
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil {
		return "", err
	}
	if head := m.headOf(admin); head != "" {
		return head, nil
	}
	return in(path).Line(ctx, "rev-parse", "--verify", "HEAD^{commit}")
}

// LastMessage returns the whole message of the newest commit that head has and
// since has not, "" when there is none.
func (m Manager) LastMessage(ctx context.Context, path, head, since string) (string, error) {
	out, err := in(path).Output(ctx, "log", "-1", "--no-show-signature", "--no-notes", "--format=%B", head, "--not", since, "--")
	return strings.TrimSpace(out), err
}

// Has reports whether the repository has a commit. It starts git only where the repository's own store does not have it.
func (m Manager) Has(ctx context.Context, commit string) bool {
	return hasObject(m.Repository.CommonDir, commit) || m.home().Run(ctx, "cat-file", "-e", commit+"^{commit}") == nil
}

// SnapshotHead is the commit that HEAD was at when a snapshot was taken: the snapshot itself where nothing was uncommitted.
func (m Manager) SnapshotHead(ctx context.Context, snapshot string) (string, error) {
	to, err := m.goal(ctx, snapshot)
	return to.head, err
}

// SnapshotHeads are the SnapshotHead of each of some snapshots, all by their ids, with one git process.
func (m Manager) SnapshotHeads(ctx context.Context, snapshots []string) (map[string]string, error) {
	heads := map[string]string{}
	if len(snapshots) == 0 {
		return heads, nil
	}
	all, err := m.goals(ctx, snapshots...)
	for _, to := range all {
		heads[to.commit] = to.head
	}
	return heads, err
}
