package gitdir

import (
	"path/filepath"
	"strings"

	"paw/config/disk"
)

// Operation names the unfinished git operation in a worktree, "" for none.
func Operation(admin string) string {
	for _, mark := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "git am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer", "cherry-pick or revert"},
		{"BISECT_LOG", "bisect"},
	} {
		if disk.Exists(filepath.Join(admin, mark.file)) {
			return mark.name
		}
	}
	return ""
}

// Head returns the branch that the HEAD of a git directory names, "" for a detached one, and the
// commit, "" if the branch has none.
func Head(gitDir string, refs *Refs) (branch, commit string) {
	head := Line(filepath.Join(gitDir, "HEAD"))
	if target, ok := strings.CutPrefix(head, "ref:"); ok {
		target = strings.TrimSpace(target)
		return strings.TrimPrefix(target, "refs/heads/"), refs.Resolve(target)
	}
	if IsOID(head) {
		commit = head
	}
	return "", commit
}

// BranchesInUse returns the branches that git counts as in use by a worktree: the one checked out,
// and those of a rebase or bisect.
func BranchesInUse(gitDir string) []string {
	var held []string
	if target, ok := strings.CutPrefix(Line(filepath.Join(gitDir, "HEAD")), "ref:"); ok {
		held = append(held, strings.TrimSpace(target))
	}
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name"} {
		held = append(held, Line(filepath.Join(gitDir, name)))
	}
	if start := Line(filepath.Join(gitDir, "BISECT_START")); start != "" {
		held = append(held, "refs/heads/"+strings.TrimPrefix(start, "refs/heads/"))
	}
	held = append(held, strings.Split(Line(filepath.Join(gitDir, "rebase-merge", "update-refs")), "\n")...)
	var branches []string
	for _, ref := range held {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && name != "" {
			branches = append(branches, name)
		}
	}
	return branches
}

// LastHead returns the newest commit in the reflog of a worktree's HEAD. A branch deleted from
// inside the worktree shows as a move to an id of zeros, which is skipped.
func LastHead(admin string) string {
	lines := strings.Split(Line(filepath.Join(admin, "logs", "HEAD")), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		fields := strings.Fields(lines[i])
		if len(fields) < 2 {
			continue
		}
		for _, oid := range []string{fields[1], fields[0]} {
			if IsOID(oid) {
				return oid
			}
		}
	}
	return ""
}
