package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"paw/orchestrator"
)

func newRoot(a *app) *cobra.Command {
	a.commands = newRoot
	asksVersion := false
	root := &cobra.Command{
		Use:           "paw [command]",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return a.unknownCommand(cmd, args)
			case asksVersion:
				a.printVersion()
				return nil
			}
			return runBare(cmd, a)
		},
	}
	root.Flags().BoolVarP(&asksVersion, "version", "v", false, "show the version of paw")
	root.PersistentFlags().StringVar(&a.colourFlag, "color", "auto", "auto, always or never")
	root.PersistentFlags().BoolVar(&a.noPager, "no-pager", false, "do not show long output through a pager")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.command = cmd.Name()
		if !slices.Contains([]string{"auto", "always", "never"}, a.colourFlag) {
			return usagef(cmd, "--color %s: it takes auto, always or never", a.colourFlag)
		}
		return nil
	}
	root.SetFlagErrorFunc(a.flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.showHelp(cmd) })
	root.SetHelpCommand(newHelp(a))
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newStart(a), newStatus(a), newAttach(a), newNext(a), newRecover(a), newStop(a), newAdd(a), newRemove(a), newPurge(a),
		newLand(a), newCheck(a), newForecast(a), newBisect(a), newUpdate(a), newPR(a),
		newTurns(a), newLog(a), newUsage(a), newDiff(a), newSeen(a), newReview(a), newRewind(a), newSend(a), newAnswer(a), newRun(a), newSpawn(a), newWait(a), newDone(a),
		newUI(a), newCLIs(a), newConfig(a), newDoctor(a), newPath(a), newSh(a), newTmux(a), newCompletion(a), newVersion(a), newAgent(), newHook(), newDeliver(a), newFollow(a), newLook(a), newBorders(a), newNotify(a), newRestore(), newDemoAgent(),
		newAgents(),
	)
	for _, cmd := range root.Commands() {
		cmd.Aliases = aliases[cmd.Name()]
		if cmd.Args != nil {
			cmd.Args = asUsage(cmd.Args)
		}
	}
	return root
}

// asUsage turns cobra's errors about words into usage errors.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var own *usageError
		if err == nil || errors.As(err, &own) {
			return err
		}
		return wordsError(cmd, check, args)
	}
}

// runBare is paw without a command.
func runBare(cmd *cobra.Command, a *app) error {
	h, err := a.paw()
	if err != nil {
		return err
	}
	statuses, problems, err := orchestrator.Status(cmd.Context(), h, orchestrator.StatusOptions{})
	if err != nil || len(statuses)+len(problems) == 0 {
		if err != nil {
			return err
		}
		fmt.Fprint(a.stdout, a.withHeads(rootHelp))
		fmt.Fprintf(a.stdout, "  %-31s all commands\n\nno session here\n", cmd.CommandPath()+" --help")
		a.showStartHints(h)
		return nil
	}
	if a.canShowDesk() && len(statuses) > 0 {
		return a.openDesk(cmd.Context(), h, false)
	}
	return a.showStatus(h, statuses, problems)
}
