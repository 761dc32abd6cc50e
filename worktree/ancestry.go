package worktree

import (
	"context"
	"maps"
	"slices"
	"strings"

	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Ancestry returns a common ancestor of all tips, "" for none, and the parents of tips and others
// and of all their ancestors, except those that the common ancestor has, too. Commits missing in
// the object store are left out. One git process is enough if guess is an ancestor of all tips.
func (o Objects) Ancestry(ctx context.Context, guess string, tips, others []string) (root string, parents map[string][]string, err error) {
	all := slices.Concat(tips, others)
	if hasObject(o.Repository.CommonDir, guess) {
		parents, err := o.parentsOf(ctx, all, guess)
		if err != nil {
			return "", nil, err
		}
		if root := newestCommon(parents, guess, tips); root != "" {
			behind := ancestors(parents, root)
			maps.DeleteFunc(parents, func(commit string, _ []string) bool { return behind[commit] })
			return root, parents, nil
		}
	}
	if root, err = o.CommonBase(ctx, tips...); err != nil {
		return "", nil, err
	}
	parents, err = o.parentsOf(ctx, all, root)
	return root, parents, err
}

// newestCommon returns the newest common ancestor of all tips; "" unless bottom, whose ancestors
// parents does not have, is a common ancestor, and if there are several newest ones.
func newestCommon(parents map[string][]string, bottom string, tips []string) string {
	var both map[string]bool
	for _, tip := range tips {
		has := ancestors(parents, tip)
		if !has[bottom] {
			return ""
		}
		if both == nil {
			both = has
		}
		maps.DeleteFunc(both, func(commit string, _ bool) bool { return !has[commit] })
	}
	newest := maps.Clone(both)
	for commit := range both {
		for _, parent := range parents[commit] {
			delete(newest, parent)
		}
	}
	if len(newest) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(newest))[0]
}

// ancestors returns a commit and those of its ancestors that parents has or names.
func ancestors(parents map[string][]string, commit string) map[string]bool {
	seen := map[string]bool{}
	for todo := []string{commit}; len(todo) > 0; {
		next := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; !seen[next] {
			seen[next] = true
			todo = append(todo, parents[next]...)
		}
	}
	return seen
}

// CommonBase returns a common ancestor of all commits, "" for none.
func (o Objects) CommonBase(ctx context.Context, commits ...string) (string, error) {
	base, err := o.home().Line(ctx, append([]string{"merge-base", "--octopus"}, commits...)...)
	if git.ExitCode(err) == 1 {
		return "", nil
	}
	return base, err
}

// parentsOf returns the parents of the commits and of all their ancestors, except those that without
// ("" for none) has, too. Commits missing in the object store are left out.
func (o Objects) parentsOf(ctx context.Context, commits []string, without string) (map[string][]string, error) {
	var input strings.Builder
	for _, commit := range commits {
		if gitdir.IsOID(commit) {
			input.WriteString(commit + "\n")
		}
	}
	if without != "" {
		input.WriteString("^" + without + "\n")
	}
	parents := map[string][]string{}
	if input.Len() == 0 {
		return parents, nil
	}
	out, err := o.home().Input(ctx, []byte(input.String()), "rev-list", "--parents", "--ignore-missing", "--stdin")
	for line := range strings.Lines(out) {
		ids := strings.Fields(line)
		parents[ids[0]] = ids[1:]
	}
	return parents, err
}
