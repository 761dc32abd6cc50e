package main

import (
	"github.com/spf13/cobra"

	"paw/orchestrator"
)

// newNotify tells the user of something that a hook has reported. The hook starts it.
func newNotify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "__notify SESSION AGENT EVENT TURN TIME",
		Hidden: true,
		Args:   cobra.ExactArgs(5),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.hookPaw()
			if err != nil {
				return err
			}
			return orchestrator.Notify(cmd.Context(), h, args[0], args[1], args[2:])
		},
	}
}
