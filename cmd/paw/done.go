package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
)

func newDone(a *invocation) *cobra.Command {
	var o orchestrator.DoneOptions
	cmd := &cobra.Command{
		Use:   "done",
		Short: "Say, as an agent, that the work is finished",
		Long: exits(`Say that the work is finished. This is for an agent, in its own pane. From the end of
the turn on paw status shows the agent as completed or, with the outcome failure or
error, in error; the turn gets that outcome and the message. Another turn takes it back.

Without --outcome it is that of the last commit made in the turn (a footer
"outcome: WORD"), else success.`, exitUsage, exitNotFound, exitLocked),
		Example: `  paw done
  paw done --message "wrote twelve tests; all pass"
  paw done --outcome failure --message "the parser needs a decision first"`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.withHome(func(cmd *cobra.Command, h *app.App, _ []string) error {
			done, err := orchestrator.Done(cmd.Context(), h, o)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, done)
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.Outcome, "outcome", "", "how the work went, in a word: success, failure, error or any other")
	f.StringVar(&o.Message, "message", "", "what was done, or why not")
	completeFlag(cmd, "outcome", cobra.FixedCompletions([]string{"success", "failure", "error"}, cobra.ShellCompDirectiveNoFileComp))
	completeFlag(cmd, "message", cobra.NoFileCompletions)
	return cmd
}
