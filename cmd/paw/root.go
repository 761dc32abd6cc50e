package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/errs"
)

// newRoot is the tree of commands: all of them or, where only is the name of one or another word for it, that one, since what
// the others are would take most of the time of a short command.
func newRoot(a *invocation, only string) *cobra.Command {
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
	for _, one := range commandsFor(only) {
		root.AddCommand(one.new(a))
	}
	for _, cmd := range root.Commands() {
		cmd.Aliases = aliases[cmd.Name()]
		if cmd.Args != nil {
			cmd.Args = a.asUsage(cmd.Args)
		}
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	return root
}

// command is a command that can be made.
type command struct {
	name string
	new  func(*invocation) *cobra.Command
}

// allCommands are the commands in the order of the help. help lists the others, so it is not among them.
var allCommands = []command{
	{"start", newStart}, {"status", newStatus}, {"attach", newAttach}, {"next", newNext}, {"recover", newRecover}, {"stop", newStop},
	{"add", newAdd}, {"remove", newRemove}, {"purge", newPurge}, {"land", newLand}, {"check", newCheck}, {"forecast", newForecast},
	{"bisect", newBisect}, {"update", newUpdate}, {"pr", newPR}, {"turns", newTurns}, {"log", newLog}, {"usage", newUsage}, {"diff", newDiff},
	{"seen", newSeen}, {"review", newReview}, {"rewind", newRewind}, {"send", newSend}, {"answer", newAnswer}, {"run", newRun},
	{"spawn", newSpawn}, {"wait", newWait}, {"done", newDone}, {"ui", newUI}, {"clis", newCLIs}, {"config", newConfig},
	{"doctor", newDoctor}, {"path", newPath}, {"sh", newSh}, {"tmux", newTmux}, {"completion", newCompletion}, {"version", newVersion},
	{"__agent", listed("__agent SESSION AGENT GENERATION FILE")}, {"hook", listed("hook CLI EVENT")}, {"__deliver", newDeliver}, {"__follow", newFollow}, {"__look", newLook}, {"__borders", newBorders},
	{"__notify", newNotify}, {"__restore", newRestore}, {"demo-agent", listed("demo-agent")},
}

// commandsFor are the commands that newRoot makes for the first word of a command line.
func commandsFor(word string) []command {
	for i, one := range allCommands {
		if one.name == word || slices.Contains(aliases[one.name], word) {
			return allCommands[i : i+1]
		}
	}
	return allCommands
}

// asUsage turns cobra's errors about words into usage errors. Where the agent is missing, and there are some, it names them.
func (a *invocation) asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var own *errs.Error
		if err == nil || errors.As(err, &own) {
			return err
		}
		if s := a.sessionHere(); len(args) == 0 && strings.Contains(cmd.Use, " AGENT") && len(s.Agents) > 0 {
			if h, homeErr := a.paw(); homeErr == nil {
				return whichAgent(cmd.Context(), cmd, h, s)
			}
		}
		return wordsError(cmd, check, args)
	}
}

// runBare is paw without a command.
func runBare(cmd *cobra.Command, a *invocation) error {
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
