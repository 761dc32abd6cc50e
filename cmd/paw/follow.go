package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"paw/orchestrator"
)

// newFollow looks how a CLI goes on after an end that it may not keep to. Hooks start it and do not wait for it.
func newFollow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "__follow SESSION AGENT HOOK",
		Hidden: true,
		Args:   cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			hook, err := strconv.Atoi(args[2])
			if err != nil {
				return err
			}
			h, err := a.hookPaw()
			if err != nil {
				return err
			}
			return orchestrator.Follow(cmd.Context(), h, args[0], args[1], hook)
		},
	}
}
