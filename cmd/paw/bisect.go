package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator/landing"
)

func newBisect(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bisect AGENT [COMMAND]",
		Short: "Find the turn that broke the project's checks",
		Long: exits(`Find the turn of an agent that broke the checks of the configuration ([land] checks), or
COMMAND: they run on the ends of turns, committed or not, in the worktree of paw check, half
of what is left at a time.`, exitUsage, exitRefused, "9    they fail at the agent's base already", exitNotFound, exitLocked, exitMissing),
		Example: `  paw bisect claude
  paw bisect claude "make test"`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completer{a}.completeAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agent, err := a.agent(cmd, args[0])
			if err != nil {
				return err
			}
			if h, err = h.ConfiguredFor(s); err != nil {
				return err
			}
			broken, err := landing.Bisect(cmd.Context(), h, s, agent, args[1:])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(bisectView(broken, a.noted()))
			}
			fmt.Fprintln(forReading(a.stdout), broken)
			return nil
		},
	}
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

type bisectJSON struct {
	Version  int      `json:"version"`
	Session  string   `json:"session"`
	Agent    string   `json:"agent"`
	Turn     *int     `json:"turn"`      // null if the end of the last turn passes
	LastGood *int     `json:"last_good"` // last turn whose end passes, 0 for the base
	Prompt   *string  `json:"prompt"`
	Notes    []string `json:"notes"`
}

func bisectView(b *landing.Broken, notes []string) bisectJSON {
	view := bisectJSON{Version: 1, Session: b.Session, Agent: b.Agent, Notes: notes}
	if b.Turn > 0 {
		view.Turn, view.LastGood, view.Prompt = &b.Turn, &b.Good, &b.Prompt
	}
	return view
}
