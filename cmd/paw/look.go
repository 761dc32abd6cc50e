package main

import (
	"github.com/spf13/cobra"

	"paw/orchestrator/family"
)

// newLook looks at what a parent waits for. tmux starts it every few seconds as long as the parent waits.
func newLook(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "__look SESSION PARENT TMUX-SESSION PANE MARK",
		Hidden: true,
		Args:   cobra.ExactArgs(5),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.hookPaw()
			if err != nil {
				return err
			}
			return family.Look(cmd.Context(), h, args[0], args[1], args[2:])
		},
	}
}
