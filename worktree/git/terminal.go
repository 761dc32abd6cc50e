package git

import (
	"bytes"
	"context"
	"io"
	"os/exec"
)

// Terminal holds the streams and the environment of a command in which git may ask the user for a
// password, and print its progress.
type Terminal struct {
	In  io.Reader
	Err io.Writer // nil collects the output for the error
	Env []string
}

// Talk is Output for a git that may ask the user; it therefore runs in the foreground.
func (r Repo) Talk(ctx context.Context, t Terminal, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = r.Dir, append(Scrub(t.Env), "LC_ALL=C", "PWD="+r.Dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.In, &stdout, &stderr
	if t.Err != nil {
		cmd.Stderr = t.Err
	} else {
		cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0")
	}
	if err := cmd.Run(); err != nil {
		return stdout.String(), r.failure(ctx, args, stderr.String(), err)
	}
	return stdout.String(), nil
}
