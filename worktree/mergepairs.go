package worktree

import (
	"context"
	"fmt"
	"strings"

	"paw/worktree/git"
)

// MergePairs merges many pairs of commits as MergeTree does, with one git process.
func (m Manager) MergePairs(ctx context.Context, dir string, pairs [][2]string) ([]Merged, error) {
	var input strings.Builder
	for _, pair := range pairs {
		if !isOID(pair[0]) || !isOID(pair[1]) {
			return nil, &RefError{Ref: pair[0] + " " + pair[1]}
		}
		input.WriteString(pair[0] + " " + pair[1] + "\n")
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	out, err := m.objects(in(dir)).Input(ctx, []byte(input.String()), "merge-tree", "--write-tree", "--stdin", "-z", "--name-only", "--no-messages")
	if git.ExitCode(err) == refusedOption { // it is older than 2.39
		return m.mergeEach(ctx, dir, pairs)
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

// mergeEach is MergePairs with a git process, or more, for each pair.
func (m Manager) mergeEach(ctx context.Context, dir string, pairs [][2]string) ([]Merged, error) {
	var all []Merged
	for _, pair := range pairs {
		one, err := m.MergeTree(ctx, dir, pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
