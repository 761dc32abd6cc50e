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

// pager writes to the user's pager.
type pager struct {
	io.Writer
	terminal io.Writer // terminal of the pager
	left     bool      // the user has left the pager before the end
}

func (p *pager) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	p.left = p.left || err != nil
	return n, err
}

// paged runs show with the user's pager between paw and the terminal, by git's rules. If the user
// leaves the pager early, the output ends without an error.
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
	p.coloured()                // ask the terminal before the pager takes its place
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

// pagerEnvironment adds the variables that git sets for a pager: less ends if the text fits on the
// screen, and shows colours.
func (p *printer) pagerEnvironment() []string {
	env := slices.Clone(p.env)
	for _, kv := range []string{"LESS=FRX", "LV=-c"} {
		if name, _, _ := strings.Cut(kv, "="); lookUp(env, name) == "" {
			env = append(env, kv)
		}
	}
	return env
}
