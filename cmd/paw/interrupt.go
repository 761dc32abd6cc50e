package main

import (
	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/typing"
)

func newInterrupt(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "interrupt AGENT",
		Short: "End the turn of an agent, as Esc in its pane does",
		Long: exits(`Press Esc in the pane of an agent whose turn runs, and wait until the turn has ended. Where
it waits with a question, the question goes too. The CLI runs on with its conversation; what the turn has done so
far stays in the worktree. Without AGENT it is the one whose worktree you stand in, or the only one.`,
			exitUsage, "3    nothing typed: no turn runs, or its pane is not free", "6    Esc was typed, but nothing says that the turn has ended", exitNotFound, exitLocked, exitMissing),
		Example: `  paw interrupt claude
  paw interrupt claude && paw send claude 'Not like that.'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              func(cmd *cobra.Command, args []string) error { return runInterrupt(a, cmd, args) },
	}
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func runInterrupt(a *invocation, cmd *cobra.Command, args []string) error {
	h, s, agent, err := a.oneAgent(cmd, args)
	if err != nil {
		return err
	}
	ended, err := typing.Interrupt(cmd.Context(), h, s, agent)
	if err != nil {
		return err
	}
	orchestrator.FollowAnswer(h, s, agent) // some CLIs run no hook after Esc
	return a.show(object{{"version", 1}, {"session", s.Name}, {"agent", ended.Agent}, {"turn", ended.Turn}, {"interrupted", !ended.Late}, {"notes", a.noted()}}, ended)
}
