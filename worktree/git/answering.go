package git

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os/exec"
)

// Answering is a git process that answers each command that it reads, like `git update-ref --stdin`.
// It ends with Close, and with paw, whose end closes its standard input.
type Answering struct {
	repo   Repo
	ctx    context.Context
	args   []string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

// Start starts git, until Close is called or ctx is done.
func (r Repo) Start(ctx context.Context, args ...string) (*Answering, error) {
	a := &Answering{repo: r, ctx: ctx, args: args, cmd: r.command(ctx, args)}
	a.cmd.Stderr = &a.stderr
	in, err := a.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, r.failure(ctx, args, "", err)
	}
	a.in, a.out = in, bufio.NewReader(out)
	return a, nil
}

// Ask writes commands, and waits for as many lines of answers. If git ends instead, Ask returns an
// *Error, and the process needs no Close.
func (a *Answering) Ask(commands string, lines int) error {
	_, err := io.WriteString(a.in, commands) // git that ends says why
	for range lines {
		if err == nil {
			_, err = a.out.ReadString('\n')
		}
	}
	if err == nil {
		return nil
	}
	_, _ = io.Copy(io.Discard, a.out)
	if ended := a.cmd.Wait(); ended != nil {
		err = ended
	}
	return a.repo.failure(a.ctx, a.args, a.stderr.String(), err)
}

// Close lets git end, and waits for that.
func (a *Answering) Close() {
	_ = a.in.Close()
	_, _ = io.Copy(io.Discard, a.out)
	_ = a.cmd.Wait()
}
