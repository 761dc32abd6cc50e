package main

import (
	"github.com/spf13/cobra"

	"paw/orchestrator"
)

// newBorders shows what the agents of a session do on the borders of their panes. tmux runs it while somebody looks.
func newBorders(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "__borders SESSION",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.hookPaw()
			if err != nil {
				return err
			}
			return orchestrator.ShowStates(cmd.Context(), h, args[0])
		},
	}
}
