package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
)

// Merged is the result of a merge of two commits.
type Merged struct {
	Tree      string   // with conflict markers where there are conflicts
	Conflicts []string // paths, none of a clean merge
}

// ErrUnrelated means that two commits have no ancestor in common.
var ErrUnrelated = errors.New("no commit in common")

// MergeTree merges two commits in the object store: no ref, index or file changes. Git runs in the directory dir, whose
// attributes decide how files are merged.
func (o Objects) MergeTree(ctx context.Context, dir, ours, theirs string) (Merged, error) {
	all, err := o.MergePairs(ctx, dir, [][2]string{{ours, theirs}})
	if err != nil {
		return Merged{}, err
	}
	return all[0], nil
}

// MergePairs merges many pairs of commits as MergeTree does, with one git process.
func (o Objects) MergePairs(ctx context.Context, dir string, pairs [][2]string) ([]Merged, error) {
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
	out, err := o.quarantined(in(dir)).Input(ctx, []byte(input.String()), "merge-tree", "--write-tree", "--stdin", "-z", "--name-only", "--no-messages")
	if git.ExitCode(err) == refusedOption {
		return o.mergeApart(ctx, pairs)
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
func (o Objects) PickTree(ctx context.Context, dir, onto string, picked CommitInfo) (Merged, error) {
	if len(picked.Parents) == 0 {
		ours, err := o.Commit(ctx, NewCommit{Tree: onto + "^{tree}", Own: true})
		if err != nil {
			return Merged{}, err
		}
		theirs, err := o.Commit(ctx, NewCommit{Tree: picked.Tree, Own: true})
		if err != nil {
			return Merged{}, err
		}
		return o.MergeTree(ctx, dir, ours, theirs)
	}
	return o.MergeTrees(ctx, dir, picked.Parents[0], onto, picked.Tree)
}

// refusedOption is the exit code of a git that does not know an option.
const refusedOption = 129

// mergeApart is MergePairs for a git older than 2.39.
func (o Objects) mergeApart(ctx context.Context, pairs [][2]string) ([]Merged, error) {
	var all []Merged
	for _, pair := range pairs {
		one, err := o.mergeOne(ctx, pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// mergeOne merges by git merge, in a worktree of a moment that no other git knows of. It has HEAD and index of its own, and
// no files but attributes and what the merge writes; objects and settings are those of the repository.
func (o Objects) mergeOne(ctx context.Context, ours, theirs string) (Merged, error) {
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		return Merged{}, err
	}
	defer os.RemoveAll(dir)
	repo, err := o.apart(dir, ours)
	if err != nil {
		return Merged{}, err
	}
	if err := fillApart(ctx, repo, ours); err != nil {
		return Merged{}, err
	}
	failed := repo.Run(ctx, apartly("merge", "-q", "--no-commit", "--no-ff", "--no-stat", "-s", "ort", theirs)...)
	var refused *git.Error
	if errors.As(failed, &refused) && refused.Said("unrelated histories") {
		return Merged{}, ErrUnrelated
	}
	if failed != nil && git.ExitCode(failed) != 1 {
		return Merged{}, failed
	}
	out, err := repo.Output(ctx, apartly("diff-files", "--name-only", "--diff-filter=U", "-z")...)
	if err != nil {
		return Merged{}, err
	}
	conflicts := sorted(nulSeparated(out))
	if (failed != nil) != (len(conflicts) > 0) {
		return Merged{}, errors.Join(fmt.Errorf("git merge came to %d conflicts, which is not understood", len(conflicts)), failed)
	}
	if len(conflicts) > 0 { // with the markers that git has written
		_, err = repo.Input(ctx, nulTerminated(conflicts), apartly("update-index", "--add", "--remove", "-z", "--stdin")...)
		if err != nil {
			return Merged{}, err
		}
	}
	tree, err := repo.Line(ctx, apartly("write-tree")...)
	return Merged{Tree: tree, Conflicts: conflicts}, err
}

// apart is git in a new worktree in dir that is at a commit and has no files.
func (o Objects) apart(dir, commit string) (git.Repo, error) {
	admin, files := filepath.Join(dir, "git"), filepath.Join(dir, "files")
	for _, folder := range []string{admin, files} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return git.Repo{}, err
		}
	}
	for name, content := range map[string]string{"HEAD": commit, "commondir": o.Repository.CommonDir} {
		if err := os.WriteFile(filepath.Join(admin, name), []byte(content+"\n"), 0o600); err != nil {
			return git.Repo{}, err
		}
	}
	repo := o.quarantined(git.Repo{Dir: files}).WithEnv(snapshotAuthor...)
	return repo.WithEnv("GIT_DIR="+admin, "GIT_WORK_TREE="+files, "GIT_LFS_SKIP_SMUDGE=1"), nil
}

// fillApart gives such a worktree the index of a commit, and its attributes: for how to merge git looks at those in files.
func fillApart(ctx context.Context, repo git.Repo, commit string) error {
	if err := repo.Run(ctx, apartly("read-tree", commit)...); err != nil {
		return err
	}
	attributes, err := repo.Output(ctx, apartly("ls-files", "-z", "--", ".gitattributes", "**/.gitattributes")...)
	if err != nil || attributes == "" {
		return err
	}
	_, err = repo.Input(ctx, []byte(attributes), apartly("checkout-index", "-u", "-z", "--stdin")...)
	return err
}

// apartly is a git command without the settings of the user's that git merge minds, and git merge-tree does not.
func apartly(args ...string) []string {
	return append(quietly("-c", "core.sparseCheckout=false", "-c", "index.sparse=false", "-c", "rerere.enabled=false",
		"-c", "merge.verifySignatures=false", "-c", "merge.autoStash=false", "-c", "merge.log=false", "-c", "submodule.recurse=false",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false"), args...)
}
