package worktree

import (
	"context"
	"errors"
	"fmt"

	"paw/worktree/git"
)

// Merged is what a merge of two commits came to.
type Merged struct {
	Tree      string   // with conflict markers where there are conflicts
	Conflicts []string // paths, none of a clean merge
}

// MergeTree merges two commits in the object store: no ref, index or file changes. Git runs in the directory dir, whose
// attributes decide how files are merged.
func (m Manager) MergeTree(ctx context.Context, dir, ours, theirs string) (Merged, error) {
	for _, oid := range []string{ours, theirs} {
		if !isOID(oid) { // for an unknown revision git ends with the same code as for a conflict
			return Merged{}, &RefError{Ref: oid}
		}
	}
	out, err := m.objects(in(dir)).Output(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	if git.ExitCode(err) == refusedOption {
		return m.mergeApart(ctx, ours, theirs)
	}
	if err != nil && git.ExitCode(err) != 1 {
		return Merged{}, err
	}
	names := nulSeparated(out)
	if len(names) == 0 || !isOID(names[0]) || err == nil && len(names) > 1 || err != nil && len(names) == 1 {
		return Merged{}, errors.Join(fmt.Errorf("git merge-tree says %q, which is not understood", out), err)
	}
	return Merged{Tree: names[0], Conflicts: sorted(names[1:])}, nil
}

// PickTree applies to a commit what another one changed against its first parent, as MergeTree does.
func (m Manager) PickTree(ctx context.Context, dir, onto string, picked CommitInfo) (Merged, error) {
	var parents []string
	if len(picked.Parents) > 0 { // a merge takes its base from history: two commits are made that have no other
		base, err := m.Commit(ctx, NewCommit{Tree: picked.Parents[0] + "^{tree}", Own: true})
		if err != nil {
			return Merged{}, err
		}
		parents = []string{base}
	}
	ours, err := m.Commit(ctx, NewCommit{Tree: onto + "^{tree}", Parents: parents, Own: true})
	if err != nil {
		return Merged{}, err
	}
	theirs, err := m.Commit(ctx, NewCommit{Tree: picked.Tree, Parents: parents, Own: true})
	if err != nil {
		return Merged{}, err
	}
	return m.MergeTree(ctx, dir, ours, theirs)
}
