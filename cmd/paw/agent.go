package main

import (
	"strconv"

	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
)

// launcher is what runs in an agent's pane until it becomes the CLI; it returns an exit code when it does not.
func (a *invocation) launcher(args []string) int {
	if len(args) != 4 {
		a.printError(errs.New(errs.Usage, "__agent: it takes SESSION AGENT GENERATION FILE"))
		return int(errs.Usage)
	}
	generation, err := strconv.Atoi(args[2])
	if err != nil {
		a.printError(errs.New(errs.Usage, "generation %s: not a number", args[2]))
		return int(errs.Usage)
	}
	code, err := launch.RunAgent(args[0], args[1], generation, args[3], stepHook)
	a.printError(err)
	return code
}
