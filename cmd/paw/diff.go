package main

import (
	"github.com/spf13/cobra"

	"paw/orchestrator"
)

func newDiff(a *app) *cobra.Command {
	var o orchestrator.DiffOptions
	var name string
	cmd := &cobra.Command{
		Use:   "diff [AGENT[@N]] [N | N..M]",
		Short: "Show what an agent changed",
		Long: exits(`Show what an agent changed, as a patch that git apply takes: since its base with
uncommitted work included, or in turn N, or from the end of turn N to the end of
turn M (0 is the base). A single turn is compared with the state at its begin, so
what you edited between turns is not shown as the agent's.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw diff claude
  paw diff claude@2 --stat
  paw diff claude 0..3 | git apply`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completeAgentAndTurn,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agent, number, err := a.agentAndTurn(cmd, name, args)
			if err != nil {
				return err
			}
			o.Range = number
			o.Color = a.coloured()
			return a.paged(cmd.Context(), h, func() error { return orchestrator.Diff(cmd.Context(), h, s, agent, o, a.stdout) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Stat, "stat", false, "only the names and sizes of the changes")
	f.BoolVarP(&o.Force, "force", "f", false, "also of a turn without a snapshot: by its commit alone")
	a.addSession(cmd, &name)
	return cmd
}
