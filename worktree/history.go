package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// MergeBases returns the best common ancestors of a commit and of all others taken together; none
// if the histories are unrelated. None of them is an ancestor of another.
func (o Objects) MergeBases(ctx context.Context, one string, others ...string) ([]string, error) {
	out, err := o.home().Output(ctx, append([]string{"merge-base", "--all", one}, others...)...)
	if git.ExitCode(err) == 1 {
		return nil, nil
	}
	return strings.Fields(out), err
}

// MergeTrees merges the trees of two commits, or two trees, with base as the common ancestor:
// MergeTree without a history.
func (o Objects) MergeTrees(ctx context.Context, dir, base, ours, theirs string) (Merged, error) {
	var parents, made []string
	for _, tree := range []string{base, ours, theirs} {
		commit, err := o.Commit(ctx, NewCommit{Tree: tree + "^{tree}", Parents: parents, Own: true})
		if err != nil {
			return Merged{}, err
		}
		if parents == nil {
			parents = []string{commit}
		}
		made = append(made, commit)
	}
	return o.MergeTree(ctx, dir, made[1], made[2])
}

// Matching returns the refs that match a for-each-ref pattern without a final slash, with their
// ids. Matching starts git only if the files of the ref store do not suffice.
func (r Refs) Matching(ctx context.Context, pattern string) (map[string]string, error) {
	if found, ok, err := gitdir.MatchRefs(r.Repository.CommonDir, pattern); ok || err != nil {
		return found, err
	}
	return r.list(ctx, pattern)
}

// PastTip is one entry of a branch's reflog: the commit before, the commit after, and the message.
type PastTip struct{ Was, Commit, Why string }

// PastTips returns the reflog of a branch, oldest first; none for a branch without one, and for "".
func (r Refs) PastTips(branch string) ([]PastTip, error) {
	if branch == "" {
		return nil, nil
	}
	log, err := os.ReadFile(filepath.Join(r.Repository.CommonDir, "logs", "refs", "heads", filepath.FromSlash(branch)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var tips []PastTip
	for line := range bytes.Lines(log) {
		head, why, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		ids := strings.Fields(head)
		if len(ids) > 1 && gitdir.IsOID(ids[1]) && strings.Trim(ids[1], "0") != "" {
			tips = append(tips, PastTip{ids[0], ids[1], why})
		}
	}
	return tips, err
}

// PatchIDs returns the patch ids of commits against their first parents, by commit. Merges and
// empty commits have none.
func (o Objects) PatchIDs(ctx context.Context, commits []string) (map[string]string, error) {
	ids := map[string]string{}
	if len(commits) == 0 {
		return ids, nil
	}
	patches, err := o.home().Input(ctx, []byte(strings.Join(commits, "\n")+"\n"), "diff-tree", "--stdin", "-p", "-r", "-O/dev/null", "--no-ext-diff", "--no-textconv", "--no-renames")
	if err != nil {
		return nil, err
	}
	out, err := o.home().Input(ctx, []byte(patches), "patch-id", "--stable")
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 2 {
			ids[fields[1]] = fields[0]
		}
	}
	return ids, err
}

// BlobChange holds mode and id of a path in each of two trees; zeros if the path is missing.
type BlobChange struct{ From, To string }

// Added reports whether the path is missing in the first tree.
func (c BlobChange) Added() bool { return strings.HasPrefix(c.From, "000000 ") }

// BlobChanges returns, for each pair of commits, the differing paths with mode and id on both
// sides.
func (o Objects) BlobChanges(ctx context.Context, pairs [][2]string) ([]map[string]BlobChange, error) {
	all := make([]map[string]BlobChange, len(pairs))
	if len(pairs) == 0 {
		return all, nil
	}
	var input strings.Builder
	for _, pair := range pairs {
		input.WriteString(pair[1] + " " + pair[0] + "\n") // git takes the second one for the parent of the first
	}
	out, err := o.home().Input(ctx, []byte(input.String()), "diff-tree", "--stdin", "--always", "-r", "-z", "--raw", "--no-abbrev", "-O/dev/null", "--no-renames")
	if err != nil {
		return nil, err
	}
	told := 0
	for fields := git.NulSeparated(out); len(fields) > 0; fields = fields[1:] {
		what := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		switch {
		case told < len(pairs) && fields[0] == pairs[told][1]: // before the changes of each pair
			all[told] = map[string]BlobChange{}
			told++
		case told > 0 && len(what) == 5 && len(fields) > 1: // modes, ids, letter
			all[told-1][fields[1]] = BlobChange{what[0] + " " + what[2], what[1] + " " + what[3]}
			fields = fields[1:]
		default:
			return nil, fmt.Errorf("git diff-tree says %q, which is not understood", fields[0])
		}
	}
	if told != len(pairs) {
		return nil, fmt.Errorf("git diff-tree tells of %d pairs of commits, not of %d", told, len(pairs))
	}
	return all, nil
}

// ChangedPaths returns the paths at which two commits differ, in git's order.
func (o Objects) ChangedPaths(ctx context.Context, from, to string) ([]string, error) {
	changes, err := o.changesBetween(ctx, from, to)
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.name)
	}
	return paths, err
}

// DeletedPaths returns the paths that from has and to does not have, in git's order.
func (o Objects) DeletedPaths(ctx context.Context, from, to string) ([]string, error) {
	changes, err := o.changesBetween(ctx, from, to)
	var paths []string
	for _, c := range changes {
		if c.gone {
			paths = append(paths, c.name)
		}
	}
	return paths, err
}

// IgnoredFiles returns the files of the worktree at path that git ignores.
func (o Objects) IgnoredFiles(ctx context.Context, path string) (map[string]bool, error) {
	out, err := git.In(path).Output(ctx, git.Quietly("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--full-name")...)
	ignored := map[string]bool{}
	for _, name := range git.NulSeparated(out) {
		ignored[name] = true
	}
	return ignored, err
}

// TreeWith returns a commit's tree with some paths taken from another commit.
func (o Objects) TreeWith(ctx context.Context, commit, from string, paths []string) (string, error) {
	there, err := o.home().Output(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", from, "--"}, paths...)...)
	if err != nil {
		return "", err
	}
	var entries strings.Builder
	for _, path := range paths {
		entries.WriteString("0 " + strings.Repeat("0", len(commit)) + "\t" + path + "\x00")
	}
	return o.treeOf(ctx, commit, []byte(entries.String()+there))
}

// treeOf returns a commit's tree with changed entries, in the format of git update-index
// --index-info.
func (o Objects) treeOf(ctx context.Context, commit string, entries []byte) (string, error) {
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	repo := o.home().WithEnv("GIT_INDEX_FILE=" + filepath.Join(dir, "index"))
	if err := repo.Run(ctx, "read-tree", commit); err != nil {
		return "", err
	}
	if _, err := repo.Input(ctx, entries, "update-index", "--replace", "-z", "--index-info"); err != nil {
		return "", err
	}
	return repo.Line(ctx, "write-tree")
}

// Had returns the paths at which a snapshot differs from base, the commit it was taken on, and
// which some commit on the first-parent line from base to tip has set to the snapshot's content.
func (o Objects) Had(ctx context.Context, base, tip, snapshot string) ([]string, error) {
	taken, err := o.changesBetween(ctx, base, snapshot)
	if err != nil {
		return nil, err
	}
	wanted := map[string]string{}
	for _, c := range taken {
		wanted[c.name] = c.entry()
	}
	out, err := o.home().Output(ctx, git.Quietly("log", "--first-parent", "--diff-merges=first-parent", "--format=", "--raw", "-z", "--no-renames", "--no-abbrev",
		"-O/dev/null", "--ignore-submodules=none", base+".."+tip)...)
	if err != nil {
		return nil, err
	}
	var had []string
	fields := git.NulSeparated(out)
	for i := 0; i+1 < len(fields); i += 2 {
		info := strings.Fields(strings.TrimPrefix(strings.TrimSpace(fields[i]), ":"))
		if len(info) != 5 {
			return nil, fmt.Errorf("git log says %q, which is not understood", fields[i])
		}
		name := fields[i+1]
		if entry, is := wanted[name]; is && entry == entryOf(info[1], info[3]) {
			had = append(had, name)
			delete(wanted, name)
		}
	}
	return had, nil
}

// Contains reports whether commit is tip or an ancestor of it, both by id. A commit that no longer
// exists is none.
func (o Objects) Contains(ctx context.Context, tip, commit string) (bool, error) {
	there, err := o.contains(ctx, tip, commit)
	if git.ExitCode(err) == 128 && vanished(err) {
		return false, nil
	}
	return there, err
}

// contains is Contains for commits that must exist; a missing commit is an error.
func (o Objects) contains(ctx context.Context, tip, commit string) (bool, error) {
	if tip == commit || o.known.isBefore(commit, tip) {
		return true, nil
	}
	err := o.home().Run(ctx, "merge-base", "--is-ancestor", commit, tip)
	if git.ExitCode(err) == 1 {
		return false, nil
	}
	if err == nil {
		o.known.cameBefore(commit, tip)
	}
	return err == nil, err
}

// Reached returns the branch that has reached a commit to which branch was to be moved: branch
// itself, however far it went on, or, if branch no longer exists, another one that has the commit,
// as after a rename. The result is "" if none has.
func (r Refs) Reached(ctx context.Context, branch, commit string) (string, error) {
	tip, err := r.Tip(ctx, branch)
	if err != nil {
		return "", err
	}
	if tip != "" {
		if there, err := r.objects.Contains(ctx, tip, commit); !there || err != nil {
			return "", err
		}
		return branch, nil
	}
	for _, which := range []string{"--points-at=", "--contains="} {
		name, err := r.objects.home().Line(ctx, "for-each-ref", "--count=1", which+commit, "--format=%(refname:lstrip=2)", "refs/heads")
		if name != "" || err != nil {
			return name, err
		}
	}
	return "", nil
}

// BranchesWithout returns which of the named branches exist and do not contain a commit.
func (r Refs) BranchesWithout(ctx context.Context, commit string, branches []string) ([]string, error) {
	args := []string{"for-each-ref", "--format=%(refname)", "--no-contains=" + commit}
	for _, branch := range branches {
		args = append(args, "refs/heads/"+branch)
	}
	if len(branches) == 0 {
		return nil, nil
	}
	out, err := r.objects.home().Output(ctx, args...)
	if err != nil {
		return nil, err
	}
	var found []string
	for ref := range strings.Lines(out) {
		if name := strings.TrimPrefix(strings.TrimSuffix(ref, "\n"), "refs/heads/"); slices.Contains(branches, name) {
			found = append(found, name)
		}
	}
	return found, nil
}

// Containing returns the full names of branches, remote-tracking branches and tags that contain a
// commit.
func (r Refs) Containing(ctx context.Context, commit string) ([]string, error) {
	out, err := r.objects.home().Output(ctx, "for-each-ref", "--contains="+commit, "--format=%(refname)", "refs/heads/", "refs/remotes/", "refs/tags/")
	return strings.Fields(out), err
}
