package worktree

import (
	"context"
	"io"
	"os/exec"

	"paw/worktree/git"
)

// Pager is the user's pager, which shows on a terminal what is written to it.
type Pager struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// PagerCommand is the shell command of the user's pager as git finds it in dir: GIT_PAGER, core.pager, PAGER, less. It is ""
// where there is to be none.
func PagerCommand(ctx context.Context, dir string) string {
	command, err := git.Repo{Dir: dir}.Line(ctx, "var", "GIT_PAGER")
	if err != nil || command == "cat" {
		return ""
	}
	return command
}

// StartPager starts a pager on a terminal, with the variables of env.
func StartPager(ctx context.Context, command string, env []string, terminal, errw io.Writer) (*Pager, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdout, cmd.Stderr, cmd.Env = terminal, errw, env
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &Pager{in, cmd}, cmd.Start()
}

// Wait says that nothing more comes, and waits until the user has left the pager. How it ended is nobody's concern.
func (p *Pager) Wait() {
	_ = p.Close()
	_ = p.cmd.Wait()
}
