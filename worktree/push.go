package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"paw/worktree/git"
)

// Terminal is where git may ask the user for a password, and shows how far it is: the streams of a command, and its
// environment.
type Terminal struct {
	In  io.Reader
	Err io.Writer // nil keeps what git says for the error
	Env []string
}

// ErrPushRejected means that the branch of the remote is not what the caller has seen. Nothing was pushed.
var ErrPushRejected = errors.New("the branch has moved there")

// RemoteHas looks what branches of a remote are at, by its address; one that is not there is not in the result. head is the
// branch that the remote has as its own, "" where it does not say.
func (m Manager) RemoteHas(ctx context.Context, t Terminal, address string, branches ...string) (found map[string]string, head string, err error) {
	args := []string{"ls-remote", "-q", "--symref", "--", address, "HEAD"}
	for _, branch := range branches {
		args = append(args, "refs/heads/"+branch)
	}
	out, err := m.talk(ctx, t, args...)
	if err != nil {
		return nil, "", err
	}
	found = map[string]string{}
	for line := range strings.Lines(out) {
		value, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
		if target, isHead := strings.CutPrefix(value, "ref: refs/heads/"); isHead && ref == "HEAD" {
			head = target
		} else if isBranch && isOID(value) {
			found[branch] = value
		}
	}
	return found, head, nil
}

// Push makes a branch of a remote a commit, whatever the branch of that name is here, and pushes nothing else. there is what the
// branch has to be at, "" for none: else it is ErrPushRejected. The user's hook for pushes runs.
func (m Manager) Push(ctx context.Context, t Terminal, remote, branch, commit, there string) error {
	ref := "refs/heads/" + branch
	out, err := m.talk(ctx, t, "push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", "--force-with-lease="+ref+":"+there, "--", remote, commit+":"+ref)
	if err != nil && strings.Contains(out, "[rejected]") {
		return ErrPushRejected
	}
	return err
}

// talk runs a git that may ask the user something, so in the foreground, and returns its output.
func (m Manager) talk(ctx context.Context, t Terminal, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	home := m.home()
	cmd.Dir, cmd.Env = home.Dir, append(git.Scrub(t.Env), "LC_ALL=C", "PWD="+home.Dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.In, &stdout, &stderr
	if t.Err != nil {
		cmd.Stderr = t.Err
	} else {
		cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0")
	}
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", git.ErrNotInstalled
	}
	if said := lastLine(stderr.String()); err != nil && said != "" {
		err = fmt.Errorf("git %s: %s", args[0], said)
	} else if err != nil {
		err = fmt.Errorf("git %s: %w", args[0], err)
	}
	return stdout.String(), err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
