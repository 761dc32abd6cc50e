package main

import (
	"github.com/spf13/cobra"

	"paw/orchestrator/family"
	"paw/orchestrator/live"
)

// newDeliver tells a parent how its children ended, if that is due. Hooks and
// commands start it and do not wait for it.
func newDeliver(a *app) *cobra.Command {
	var c live.Claim
	cmd := &cobra.Command{
		Use:    "__deliver SESSION PARENT",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.hookPaw()
			if err != nil {
				return err
			}
			return family.Deliver(cmd.Context(), h, args[0], args[1], c)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.OwnEnd, "own-end", false, "the parent's own turn has ended")
	f.StringVar(&c.Leaving, "leaving", "", "a child whose CLI is about to exit")
	f.IntVar(&c.Hook, "hook", 0, "process that has to end first")
	return cmd
}
