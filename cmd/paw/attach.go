package main

import (
	"github.com/spf13/cobra"
)

func newAttach(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "attach [NAME] [AGENT]",
		Short: "Show a session in this terminal",
		Long: exits(`Attach this terminal to a session, with the pane of AGENT selected. Inside the same
tmux server the client is switched instead.`, exitUsage, exitNotFound, exitMissing),
		Example: `  paw attach
  paw attach codex
  paw attach shop codex`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completeSessionsAndAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.paw()
			if err != nil {
				return err
			}
			s, agents, err := sessionAndAgents(p, args)
			if err != nil {
				return err
			}
			if s == nil {
				_, err := p.Find("")
				return err
			}
			if len(agents) > 1 {
				return usagef(cmd, "%s: no such session", args[0])
			}
			agent := ""
			if len(agents) == 1 {
				agent = agents[0]
			}
			return p.Attach(cmd.Context(), s, agent)
		},
	}
}
