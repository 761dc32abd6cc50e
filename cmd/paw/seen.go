package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/session"
)

func newSeen(a *invocation) *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use:   "seen [AGENT[@N]...]",
		Short: "Mark what an agent has done as seen",
		Long: exits(`Mark all that an agent has done as seen, committed or not, or what it had done at the end
of turn N (0 is its base). paw diff --unseen shows what comes after that, and paw status
counts the finished turns that are left to review. Without AGENT it is the one whose
worktree you stand in, or the session's only one.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw diff claude --unseen
  paw seen claude
  paw seen claude@3
  paw seen claude codex`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			if state != "" && len(args) > 1 {
				return usagef(cmd, "--state is of one agent")
			}
			return a.eachAgent(cmd, args, func(h *app.App, s *session.Session, agent, number string) error {
				if state != "" && number == "" {
					return usagef(cmd, "--state takes the turn up to which it is: %s@N", agent)
				}
				seen, err := orchestrator.MarkSeen(cmd.Context(), h, s, agent, number, state)
				if err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, seen)
				return nil
			})
		},
	}
	a.addState(cmd, &state)
	a.addSession(cmd)
	return cmd
}
