package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"paw/worktree/git"
)

// Init makes an empty directory a repository with one empty commit, which is
// what branches need to start from. Its own interrupted attempt is continued; one
// that fails leaves nothing. The caller is Alone.
// The error is *NotEmptyError when there is anything in the directory.
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
	repo := in(dir)
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

// Empty reports whether a directory holds nothing, or nothing but an empty .git folder.
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

// firstCommit makes an empty commit, also where git knows no name of the user or
// has no key to sign with.
func firstCommit(ctx context.Context, repo git.Repo, message string) error {
	commit := []string{"-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty", "--no-verify", "--message", message}
	err := repo.Run(ctx, commit...)
	var failed *git.Error
	if errors.As(err, &failed) && (failed.Said("tell me who you are") || failed.Said("empty ident")) {
		return repo.WithEnv(snapshotAuthor...).Run(ctx, commit...)
	}
	return err
}

// Alone waits until no other paw, of whatever user, holds the directory itself.
// Init and Uninit are for those who do: else one takes away what another one has
// begun to use. unlock is never nil. An error means that this cannot be had here.
func Alone(ctx context.Context, dir string) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return func() {}, err
	}
	if err := waitForLock(ctx, file); err != nil {
		return func() {}, fmt.Errorf("%s: %w", dir, err)
	}
	return func() { file.Close() }, nil
}

// Uninit takes Init back, for a caller that could not go on, as long as nothing
// but the one empty commit has come into the directory. The error is
// *NotEmptyError otherwise. The caller has been Alone since before Init.
func Uninit(ctx context.Context, dir string) error {
	content, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	commits, err := in(dir).Line(ctx, "rev-list", "--all", "--reflog", "--count")
	if err != nil {
		return err
	}
	files, err := in(dir).Line(ctx, "ls-tree", "HEAD")
	if err != nil {
		return err
	}
	if len(content) != 1 || content[0].Name() != ".git" || commits != "1" || files != "" || exists(filepath.Join(dir, ".git", "worktrees")) {
		return &NotEmptyError{Dir: dir}
	}
	return os.RemoveAll(filepath.Join(dir, ".git"))
}
