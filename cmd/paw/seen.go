package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator"
)

func newSeen(a *app) *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use:   "seen AGENT[@N]",
		Short: "Mark what an agent has done as seen",
		Long: exits(`Mark all that an agent has done as seen, committed or not, or what it had done at the end
of turn N (0 is its base). paw diff --unseen shows what comes after that, and paw status
counts the finished turns that are left to review.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw diff claude --unseen
  paw seen claude
  paw seen claude@3`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeAgent,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agent, number, err := a.agentAndTurn(cmd, args)
			if err != nil {
				return err
			}
			if state != "" && number == "" {
				return usagef(cmd, "--state takes the turn up to which it is: %s@N", agent)
			}
			seen, err := orchestrator.MarkSeen(cmd.Context(), h, s, agent, number, state)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, seen)
			return nil
		},
	}
	a.addState(cmd, &state)
	a.addSession(cmd)
	return cmd
}
