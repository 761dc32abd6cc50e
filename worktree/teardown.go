package worktree

import (
	"context"
	"io"
)

// TearDown runs a command of the project through sh in the worktree at path, which is about to go, with its output going to out
// and without the variables of git.LocalEnv. It leaves no process of its group behind when ctx ends.
func (m Manager) TearDown(ctx context.Context, path, command string, out io.Writer, env []string) error {
	if err := Verify(path, m.Repository.CommonDir, ""); err != nil {
		return err
	}
	return runCommand(ctx, path, command, out, env)
}
