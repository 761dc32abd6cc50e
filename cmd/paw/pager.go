package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"paw/orchestrator"
	"paw/orchestrator/app"
)

// pager is the standard input of the user's pager, which shows it on the terminal.
type pager struct {
	io.Writer
	terminal io.Writer // that it is shown on
	left     bool      // before the end
}

func (p *pager) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	p.left = p.left || err != nil
	return n, err
}

// paged runs show with its output going through the user's pager, by git's rules, where there is a terminal. A pager that
// is left early ends the output, and that is no error.
func (p *printer) paged(ctx context.Context, h *app.App, show func() error) error {
	terminal := p.stdout
	if wrapped, is := terminal.(*prose); is {
		terminal = wrapped.terminal
	}
	if _, file := terminal.(*os.File); p.noPager || p.json || !file || !isTerminal(terminal) || lookUp(p.env, "TERM") == "dumb" {
		return show()
	}
	started := orchestrator.StartPager(ctx, h, p.pagerEnvironment(), terminal, p.stderr)
	if started == nil {
		return show()
	}
	signal.Ignore(os.Interrupt) // Ctrl-C is for the pager, which would outlive paw on the same terminal
	p.coloured()                // as the terminal says, before the pager stands in its place
	reader := &pager{Writer: started, terminal: terminal}
	p.stdout = reader
	err := show()
	p.stdout = terminal
	started.Wait()
	if reader.left {
		return nil
	}
	return err
}

// pagerEnvironment has what git gives to a pager: less leaves what fits on the screen, and shows colours.
func (p *printer) pagerEnvironment() []string {
	env := slices.Clone(p.env)
	for _, kv := range []string{"LESS=FRX", "LV=-c"} {
		if name, _, _ := strings.Cut(kv, "="); lookUp(env, name) == "" {
			env = append(env, kv)
		}
	}
	return env
}
