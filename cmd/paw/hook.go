package main

import (
	"io"

	"github.com/spf13/cobra"

	"paw/orchestrator"
)

// maxPayload bounds what a hook reads: prompts and answers come in it.
const maxPayload = 64 << 20

// newHook is the entry of the CLIs' hooks. It prints nothing and always ends
// with 0: some CLIs give its output to the model, and some stop the turn
// otherwise.
func newHook(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                "hook CLI EVENT",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return nil
			}
			payload, err := io.ReadAll(io.LimitReader(a.stdin, maxPayload))
			if err != nil {
				return nil //nolint:nilerr // a hook never fails
			}
			if h, err := a.hookPaw(); err == nil {
				orchestrator.Hook(cmd.Context(), h, args[0], args[1], payload)
			}
			return nil
		},
	}
}
