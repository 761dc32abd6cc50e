package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"paw/orchestrator/fault"
	"paw/orchestrator/launch"
)

// newAgent only lists the launcher; run in main.go starts it.
func newAgent(*app) *cobra.Command {
	return &cobra.Command{Use: "__agent SESSION AGENT GENERATION FILE", Hidden: true, Run: func(*cobra.Command, []string) {}}
}

// launcher is what runs in an agent's pane until it becomes the CLI; it returns an exit code when it does not.
func (a *app) launcher(args []string) int {
	if len(args) != 4 {
		a.printError(fault.New(fault.Usage, "__agent: it takes SESSION AGENT GENERATION FILE"))
		return int(fault.Usage)
	}
	generation, err := strconv.Atoi(args[2])
	if err != nil {
		a.printError(fault.New(fault.Usage, "generation %s: not a number", args[2]))
		return int(fault.Usage)
	}
	code, err := launch.RunAgent(args[0], args[1], generation, args[3], stepHook)
	a.printError(err)
	return code
}

// newDemoAgent only lists the built-in agent; run in main.go starts it.
func newDemoAgent(*app) *cobra.Command {
	return &cobra.Command{Use: "demo-agent", Hidden: true, Run: func(*cobra.Command, []string) {}}
}
