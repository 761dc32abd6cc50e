package worktree

import (
	"context"
	"strconv"
	"strings"
)

// Changes are what differs between two commits.
type Changes struct {
	Files      int
	Submodules []string // of the files, those that are a submodule in one of the commits
}

// CountChanges counts the files that differ between the two commits of each pair.
func (m Manager) CountChanges(ctx context.Context, pairs [][2]string) (map[[2]string]int, error) {
	changes, err := m.Changes(ctx, pairs)
	if err != nil {
		return nil, err
	}
	counts := map[[2]string]int{}
	for pair, c := range changes {
		counts[pair] = c.Files
	}
	return counts, nil
}

// Changes tells what differs between the two commits of each pair, with two git processes for all of them.
func (m Manager) Changes(ctx context.Context, pairs [][2]string) (map[[2]string]Changes, error) {
	counts := map[[2]string]Changes{}
	if len(pairs) == 0 {
		return counts, nil
	}
	trees, err := m.trees(ctx, pairs)
	if err != nil {
		return nil, err
	}
	var input strings.Builder
	byTrees := map[string][][2]string{}
	for _, pair := range pairs {
		if _, there := counts[pair]; there {
			continue
		}
		counts[pair] = Changes{}
		line := trees[pair[0]] + " " + trees[pair[1]]
		if trees[pair[0]] == trees[pair[1]] {
			continue
		}
		if len(byTrees[line]) == 0 {
			input.WriteString(line + "\n")
		}
		byTrees[line] = append(byTrees[line], pair)
	}
	if input.Len() == 0 {
		return counts, nil
	}
	out, err := m.home().Input(ctx, []byte(input.String()), "diff-tree", "--stdin", "-r", "-O/dev/null", "--raw", "--no-renames", "--ignore-submodules=none")
	if err != nil {
		return nil, err
	}
	var at [][2]string
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if same, header := byTrees[line]; header {
			at = same
			continue
		}
		submodule := submoduleIn(line)
		for _, pair := range at {
			c := counts[pair]
			c.Files++
			if submodule != "" {
				c.Submodules = append(c.Submodules, submodule)
			}
			counts[pair] = c
		}
	}
	return counts, nil
}

// trees resolves commits to their trees.
func (m Manager) trees(ctx context.Context, pairs [][2]string) (map[string]string, error) {
	var commits []string
	seen := map[string]bool{}
	for _, pair := range pairs {
		for _, commit := range pair {
			if !seen[commit] {
				seen[commit] = true
				commits = append(commits, commit)
			}
		}
	}
	out, err := m.home().Input(ctx, []byte(strings.Join(commits, "^{tree}\n")+"^{tree}\n"), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, err
	}
	trees := map[string]string{}
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if i < len(commits) && isOID(line) {
			trees[commits[i]] = line
		}
	}
	return trees, nil
}

// submoduleIn is the path in a raw line of git diff-tree where the path is a submodule on one side, else "".
func submoduleIn(line string) string {
	modes, path, _ := strings.Cut(line, "\t")
	f := strings.Fields(strings.TrimPrefix(modes, ":"))
	if len(f) < 2 || !(change{oldMode: f[0], mode: f[1]}).gitlink() {
		return ""
	}
	if plain, err := strconv.Unquote(path); err == nil {
		return plain
	}
	return path
}
