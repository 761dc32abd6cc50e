package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"paw/worktree/git"
)

// refusedOption is the exit code of a git that does not know an option.
const refusedOption = 129

// mergeApart is MergePairs for a git older than 2.39.
func (m Manager) mergeApart(ctx context.Context, pairs [][2]string) ([]Merged, error) {
	var all []Merged
	for _, pair := range pairs {
		one, err := m.mergeOne(ctx, pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// mergeOne merges by git merge, in a worktree of a moment that no other git knows of. It has HEAD and index of its own, and
// no files but attributes and what the merge writes; objects and settings are those of the repository.
func (m Manager) mergeOne(ctx context.Context, ours, theirs string) (Merged, error) {
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		return Merged{}, err
	}
	defer os.RemoveAll(dir)
	repo, err := m.apart(dir, ours)
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
func (m Manager) apart(dir, commit string) (git.Repo, error) {
	admin, files := filepath.Join(dir, "git"), filepath.Join(dir, "files")
	for _, folder := range []string{admin, files} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return git.Repo{}, err
		}
	}
	for name, content := range map[string]string{"HEAD": commit, "commondir": m.Repository.CommonDir} {
		if err := os.WriteFile(filepath.Join(admin, name), []byte(content+"\n"), 0o600); err != nil {
			return git.Repo{}, err
		}
	}
	repo := m.objects(git.Repo{Dir: files}).WithEnv(snapshotAuthor...)
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
