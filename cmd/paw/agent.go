package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"paw/orchestrator/launch"
)

// newAgent is the launcher: what runs in an agent's pane until it becomes the CLI.
func newAgent(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "__agent SESSION AGENT GENERATION FILE",
		Hidden: true,
		Args:   cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			generation, err := strconv.Atoi(args[2])
			if err != nil {
				return usagef(cmd, "generation %s: not a number", args[2])
			}
			code, err := launch.RunAgent(args[0], args[1], generation, args[3], stepHook)
			a.printError(err)
			return exitStatus(code)
		},
	}
}

// newDemoAgent only lists the built-in agent; run in main.go starts it.
func newDemoAgent() *cobra.Command {
	return &cobra.Command{Use: "demo-agent", Hidden: true, Run: func(*cobra.Command, []string) {}}
}
