package main

import (
	"github.com/spf13/cobra"

	"paw/orchestrator"
)

func newAttach(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "attach [NAME] [AGENT]",
		Short: "Show a session in this terminal",
		Long: exits(`Attach this terminal to a session, with the pane of AGENT selected, or of the
agent that has waited longest for your answer. Inside the same tmux server the client is
switched instead.`, exitUsage, exitNotFound, exitMissing),
		Example: `  paw attach
  paw attach codex
  paw attach shop codex`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completeSessionsAndAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agent, err := a.sessionAndAgent(cmd, args)
			if err != nil {
				return err
			}
			if agent == "" {
				agent = orchestrator.WaitingIn(cmd.Context(), h, s)
			}
			return orchestrator.Attach(cmd.Context(), h, s, agent)
		},
	}
	a.addSession(cmd)
	return cmd
}
