package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
)

// grepOptions holds the flags of paw log --grep.
type grepOptions struct {
	*invocation
	orchestrator.GrepOptions
	all  bool
	most int
}

func (o *grepOptions) run(cmd *cobra.Command, words []string) error {
	for _, other := range []string{"turn", "full"} {
		if cmd.Flags().Changed(other) {
			return usagef(cmd, "--grep and --%s exclude each other", other)
		}
	}
	switch {
	case o.Text == "":
		return usagef(cmd, "--grep: needs a text")
	case o.Role != "" && !slices.Contains([]string{"user", "assistant", "tool"}, o.Role):
		return usagef(cmd, "--role %s: it takes user, assistant or tool", o.Role)
	case o.all && len(words) > 0:
		return usagef(cmd, "--all takes no agent")
	}
	h, err := o.paw()
	if err != nil {
		return err
	}
	var sessions []*session.Session
	var agents []string
	if o.Most = o.most; o.all {
		if sessions, _, err = h.Store.List(); err != nil {
			return err
		}
	} else {
		_, s, named, err := o.agents(cmd, words)
		if err != nil {
			return err
		}
		if err := app.RequireAgents(s, named...); err != nil {
			return err
		}
		sessions, agents = []*session.Session{s}, named
	}
	found, more, err := orchestrator.Grep(cmd.Context(), h, sessions, agents, o.GrepOptions)
	if err != nil {
		return err
	}
	if o.json {
		err = o.printJSON(grepView(found, o.noted()))
	} else {
		err = o.printFound(cmd.Context(), h, found, more)
	}
	if err == nil && len(found) == 0 {
		return exitStatus(errs.Failed)
	}
	return err
}

// printFound prints the messages that were found; more counts the older ones.
func (o *grepOptions) printFound(ctx context.Context, h *app.App, found []orchestrator.Match, more int) error {
	return o.paged(ctx, h, func() error {
		out := forReading(o.stdout)
		for _, m := range found {
			line := fmt.Sprintf("%s/%s%s  %s  %s", m.Session, m.Agent, turnWord(m.Turn), m.Role, around(m.Content, o.Text))
			if isTerminal(o.stdout) {
				width, _ := o.terminalSize()
				line = display.Broken(line, width, 2)
			}
			fmt.Fprintln(out, line)
		}
		if len(found) == 0 {
			o.note(fmt.Sprintf("no message has %q", o.Text))
		}
		if more > 0 {
			h.Notef("%d older messages are not shown: --most %d", more, len(found)+more)
		}
		return nil
	})
}

func turnWord(turn int) string {
	if turn == 0 {
		return ""
	}
	return fmt.Sprintf(" turn %d", turn)
}

// shownAround is the number of characters shown on either side of a match.
const shownAround = 40

// around returns the part of a message around a text, on one line.
func around(content, text string) string {
	at := max(0, strings.Index(strings.ToLower(content), strings.ToLower(text)))
	before, after := []rune(content[:min(at, len(content))]), []rune(content[min(at, len(content)):])
	begin, end := "", ""
	if len(before) > shownAround {
		before, begin = before[len(before)-shownAround:], "…"
	}
	if most := shownAround + len([]rune(text)); len(after) > most {
		after, end = after[:most], "…"
	}
	return begin + strings.Join(strings.Fields(string(before)+string(after)), " ") + end
}

func grepView(found []orchestrator.Match, notes []string) object {
	return object{{"version", 1}, {"messages", objects(found, func(m orchestrator.Match) object {
		return object{
			{"session", m.Session}, {"agent", m.Agent}, {"turn", orNull(m.Turn)}, {"role", string(m.Role)}, {"content", m.Content},
			{"timestamp", orNull(m.Timestamp.UTC())},
		}
	})}, {"notes", notes}}
}
