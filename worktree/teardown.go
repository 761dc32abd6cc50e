package worktree

import (
	"context"
	"io"

	"paw/worktree/gitdir"
)

// TearDown runs a command of the project with sh in the worktree at path, before its removal, with
// output to out, and without the variables that git.Scrub removes. When ctx ends, all processes of
// the command's group are killed.
func (u Setups) TearDown(ctx context.Context, path, command string, out io.Writer, env []string) error {
	if err := gitdir.Verify(path, u.Repository.CommonDir, ""); err != nil {
		return err
	}
	return runCommand(ctx, path, command, out, env)
}
