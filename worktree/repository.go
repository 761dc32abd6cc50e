package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// Init makes an empty directory a repository with one empty commit, since branches need a commit to
// start from. Init continues an interrupted Init, and leaves nothing after a failure. The caller
// holds the lock of Alone. The error is *NotEmptyError if there is anything in the directory.
func Init(ctx context.Context, dir, message string) error {
	content, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, item := range content {
		if item.Name() != ".git" {
			return &NotEmptyError{Dir: dir}
		}
	}
	repo := git.In(dir)
	if empty, err := Empty(dir); err != nil {
		return err
	} else if !empty {
		if _, err := repo.Line(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); git.ExitCode(err) != 1 {
			return &NotEmptyError{Dir: dir}
		}
	}
	err = repo.Run(ctx, "init", "--quiet")
	if err == nil {
		err = firstCommit(ctx, repo, message)
	}
	if err != nil && len(content) == 0 {
		return errors.Join(err, os.RemoveAll(filepath.Join(dir, ".git")))
	}
	return err
}

// Empty reports whether a directory holds nothing, or only an empty .git folder.
func Empty(dir string) (bool, error) {
	content, err := os.ReadDir(dir)
	if err != nil || len(content) == 0 {
		return err == nil, err
	}
	if len(content) > 1 || content[0].Name() != ".git" || !content[0].IsDir() {
		return false, nil
	}
	content, err = os.ReadDir(filepath.Join(dir, ".git"))
	return err == nil && len(content) == 0, err
}

// firstCommit makes an empty commit, even if git knows no name of the user, or has no key to sign
// with.
func firstCommit(ctx context.Context, repo git.Repo, message string) error {
	commit := []string{"-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty", "--no-verify", "--message", message}
	err := repo.Run(ctx, commit...)
	var failed *git.Error
	if errors.As(err, &failed) && (failed.Said("tell me who you are") || failed.Said("empty ident")) {
		return repo.WithEnv(objects.Author...).Run(ctx, commit...)
	}
	return err
}

// Alone locks the directory itself against other paws, of any user. Init and Uninit are called
// under this lock: otherwise one paw could remove what another has begun to use. unlock is never
// nil. An error means that the directory cannot be locked.
func Alone(ctx context.Context, dir string) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return func() {}, err
	}
	if err := gitdir.WaitForLock(ctx, file); err != nil {
		return func() {}, fmt.Errorf("%s: %w", dir, err)
	}
	return func() { file.Close() }, nil
}

// Uninit undoes Init for a caller that could not go on, provided that the directory holds nothing
// but the one empty commit; else the error is *NotEmptyError. The caller has held the lock of Alone
// since before Init.
func Uninit(ctx context.Context, dir string) error {
	content, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	commits, err := git.In(dir).Line(ctx, "rev-list", "--all", "--reflog", "--count")
	if err != nil {
		return err
	}
	files, err := git.In(dir).Line(ctx, "ls-tree", "HEAD")
	if err != nil {
		return err
	}
	if len(content) != 1 || content[0].Name() != ".git" || commits != "1" || files != "" || disk.Exists(filepath.Join(dir, ".git", "worktrees")) {
		return &NotEmptyError{Dir: dir}
	}
	return os.RemoveAll(filepath.Join(dir, ".git"))
}
