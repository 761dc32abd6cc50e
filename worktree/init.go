package worktree

import (
	"context"
	"errors"
	"os"

	"paw/worktree/git"
)

// Init makes an empty directory a repository with one empty commit, which is
// what branches need to start from. Its own interrupted attempt is continued.
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
	if len(content) > 0 {
		if _, err := repo.Line(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); git.ExitCode(err) != 1 {
			return &NotEmptyError{Dir: dir}
		}
	}
	if err := repo.Run(ctx, "init", "--quiet"); err != nil {
		return err
	}
	commit := []string{"commit", "--quiet", "--allow-empty", "--no-verify", "--message", message}
	err = repo.Run(ctx, commit...)
	var failed *git.Error
	if errors.As(err, &failed) && (failed.Said("tell me who you are") || failed.Said("empty ident")) {
		return repo.WithEnv(snapshotAuthor...).Run(ctx, commit...)
	}
	return err
}
