package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
)

func newNext(a *invocation) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "next",
		Short: "Go to the agent that needs you most",
		Long: exits(`Show the pane of the agent, of any session, that needs you most: first agents that wait for
an answer, the longest wait first, then failed ones, then ones with turns that you have
not seen. Inside tmux the client is switched; again it goes on to the next one.`, exitNotFound, exitMissing),
		Example: `  paw next
  paw next --dry-run`,
		Args: cobra.NoArgs,
		RunE: a.withHome(func(cmd *cobra.Command, h *app.App, _ []string) error {
			next, nobody, problems, err := orchestrator.Next(cmd.Context(), h)
			if err != nil {
				return err
			}
			for _, problem := range problems {
				a.note(problem.Error())
			}
			switch {
			case next == nil && isTerminal(a.stdout) || next == nil && !orchestrator.TellInTmux(cmd.Context(), h, "paw: "+nobody):
				fmt.Fprintln(a.stdout, nobody)
				return nil
			case next == nil:
				return nil
			case dryRun:
				state := orchestrator.StateWord(next.Agent.AgentStatus)
				if next.Group == orchestrator.ToReview {
					state = toReview(&next.Agent) + " to review"
				}
				fmt.Fprintf(a.stdout, "%s/%s: %s\n", next.Session.Name, next.Agent.Record.Name, state)
				return nil
			}
			return orchestrator.Attach(cmd.Context(), h, next.Session, next.Agent.Record.Name)
		}),
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "only say which one it is")
	return cmd
}
