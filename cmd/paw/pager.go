package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"paw/worktree/git"
)

// pager is the standard input of the user's pager, which shows it on the terminal.
type pager struct {
	io.WriteCloser
	left bool // before the end
}

func (p *pager) Write(text []byte) (int, error) {
	n, err := p.WriteCloser.Write(text)
	p.left = p.left || err != nil
	return n, err
}

// paged runs show with its output going through the user's pager, by git's rules, where there is a terminal. A pager that
// is left early ends the output, and that is no error.
func (a *app) paged(ctx context.Context, show func() error) error {
	command := a.pagerCommand(ctx)
	if command == "" {
		return show()
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout, cmd.Stderr, cmd.Env = a.stdout, a.stderr, a.pagerEnvironment()
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return show()
	}
	signal.Ignore(os.Interrupt) // Ctrl-C is for the pager, which would outlive paw on the same terminal
	a.coloured()                // as the terminal says, before the pager stands in its place
	p := &pager{WriteCloser: in}
	terminal := a.stdout
	a.stdout = p
	err = show()
	a.stdout = terminal
	_ = in.Close()
	_ = cmd.Wait()
	if p.left {
		return nil
	}
	return err
}

// pagerCommand is the user's pager, "" for none: GIT_PAGER, core.pager, PAGER, less, in git's order.
func (a *app) pagerCommand(ctx context.Context) string {
	_, terminal := a.stdout.(*os.File)
	if a.noPager || a.json || !terminal || !isTerminal(a.stdout) || lookUp(a.env, "TERM") == "dumb" {
		return ""
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	command, err := git.Repo{Dir: dir}.Line(ctx, "var", "GIT_PAGER")
	if err != nil || command == "cat" {
		return ""
	}
	return command
}

// pagerEnvironment has what git gives to a pager: less leaves what fits on the screen, and shows colours.
func (a *app) pagerEnvironment() []string {
	env := slices.Clone(a.env)
	for _, kv := range []string{"LESS=FRX", "LV=-c"} {
		if name, _, _ := strings.Cut(kv, "="); lookUp(env, name) == "" {
			env = append(env, kv)
		}
	}
	return env
}
