package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"paw/worktree/git"
)

// Merged is what a merge of two commits came to.
type Merged struct {
	Tree      string   // with conflict markers where there are conflicts
	Conflicts []string // paths, none of a clean merge
}

// ErrUnrelated means that two commits have no ancestor in common.
var ErrUnrelated = errors.New("no commit in common")

// MergeTree merges two commits in the object store: no ref, index or file changes. Git runs in the directory dir, whose
// attributes decide how files are merged.
func (m Manager) MergeTree(ctx context.Context, dir, ours, theirs string) (Merged, error) {
	all, err := m.MergePairs(ctx, dir, [][2]string{{ours, theirs}})
	if err != nil {
		return Merged{}, err
	}
	return all[0], nil
}

// MergePairs merges many pairs of commits as MergeTree does, with one git process.
func (m Manager) MergePairs(ctx context.Context, dir string, pairs [][2]string) ([]Merged, error) {
	var input strings.Builder
	for _, pair := range pairs {
		for _, oid := range pair {
			if !isOID(oid) {
				return nil, &RefError{Ref: oid}
			}
		}
		input.WriteString(pair[0] + " " + pair[1] + "\n")
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	out, err := m.objects(in(dir)).Input(ctx, []byte(input.String()), "merge-tree", "--write-tree", "--stdin", "-z", "--name-only", "--no-messages")
	if git.ExitCode(err) == refusedOption {
		return m.mergeApart(ctx, pairs)
	}
	var failed *git.Error
	if errors.As(err, &failed) && failed.Said("unrelated histories") {
		return nil, ErrUnrelated
	}
	if err != nil {
		return nil, err
	}
	var all []Merged
	for fields := strings.Split(out, "\x00"); len(fields) > 2; { // status, tree, paths, and an empty field behind them
		one := Merged{Tree: fields[1]}
		rest := fields[2:]
		for len(rest) > 0 && rest[0] != "" {
			one.Conflicts, rest = append(one.Conflicts, rest[0]), rest[1:]
		}
		if !isOID(one.Tree) || len(rest) == 0 || (fields[0] == "0") != (len(one.Conflicts) > 0) {
			return nil, fmt.Errorf("git merge-tree says %q, which is not understood", out)
		}
		one.Conflicts = sorted(one.Conflicts)
		all, fields = append(all, one), rest[1:]
	}
	if len(all) != len(pairs) {
		return nil, fmt.Errorf("git merge-tree tells of %d merges, not of %d", len(all), len(pairs))
	}
	return all, nil
}

// PickTree applies to a commit what another one changed against its first parent, as MergeTree does.
func (m Manager) PickTree(ctx context.Context, dir, onto string, picked CommitInfo) (Merged, error) {
	if len(picked.Parents) == 0 {
		ours, err := m.Commit(ctx, NewCommit{Tree: onto + "^{tree}", Own: true})
		if err != nil {
			return Merged{}, err
		}
		theirs, err := m.Commit(ctx, NewCommit{Tree: picked.Tree, Own: true})
		if err != nil {
			return Merged{}, err
		}
		return m.MergeTree(ctx, dir, ours, theirs)
	}
	return m.MergeTrees(ctx, dir, picked.Parents[0], onto, picked.Tree)
}
