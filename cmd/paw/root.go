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

// newRoot builds the tree of commands. If only is the name or an alias of a command, the tree has
// no other command: to build all of them would take most of the time of a short command.
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
				return suggester{a}.unknownCommand(cmd, args)
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
		a.command, a.ran = cmd.Name(), cmd
		a.speaks(cmd)
		if !slices.Contains([]string{"auto", "always", "never"}, a.colourFlag) {
			return usagef(cmd, "--color %s: it takes auto, always or never", a.colourFlag)
		}
		return nil
	}
	root.SetFlagErrorFunc(suggester{a}.flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		words := slices.DeleteFunc(slices.Clone(args), func(word string) bool { return strings.HasPrefix(word, "-") })
		if cmd == root {
			a.helpFailed = helpPrinter{a}.help(cmd, words)
		} else {
			a.helpFailed = helpPrinter{a}.showHelp(cmd)
		}
	})
	root.SetHelpCommand(newHelp(a))
	root.CompletionOptions.DisableDefaultCmd = true
	for _, one := range commandsFor(only) {
		root.AddCommand(one.new(a))
	}
	for _, cmd := range root.Commands() {
		for _, one := range append(cmd.Commands(), cmd) {
			if one.RunE != nil && (one == cmd || cmd.Name() == "queue") {
				one.RunE = router{a}.onHosts(one.RunE)
			}
			if one.Args != nil {
				one.Args = suggester{a}.asUsage(one.Args)
			}
		}
		cmd.Aliases = aliases[cmd.Name()]
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	return root
}

type command struct {
	name string
	new  func(*invocation) *cobra.Command
}

// allCommands are the commands in the order of the help. help itself is not among them.
var allCommands = []command{
	{"start", newStart}, {"status", newStatus}, {"attach", newAttach}, {"next", newNext}, {"recover", newRecover}, {"stop", newStop},
	{"add", newAdd}, {"remove", newRemove}, {"purge", newPurge}, {"land", newLand}, {"check", newCheck}, {"forecast", newForecast},
	{"bisect", newBisect}, {"update", newUpdate}, {"pr", newPR}, {"turns", newTurns}, {"log", newLog}, {"usage", newUsage}, {"diff", newDiff},
	{"seen", newSeen}, {"review", newReview}, {"rewind", newRewind}, {"undo", newUndo}, {"send", newSend}, {"answer", newAnswer}, {"interrupt", newInterrupt}, {"run", newRun},
	{"queue", newQueue}, {"race", newRace}, {"spawn", newSpawn}, {"wait", newWait}, {"done", newDone}, {"ui", newUI}, {"clis", newCLIs}, {"config", newConfig}, {"host", newHost},
	{"doctor", newDoctor}, {"path", newPath}, {"sh", newSh}, {"env", newEnv}, {"blame", newBlame}, {"mcp", newMCP}, {"setup", newSetup}, {"tmux", newTmux}, {"completion", newCompletion}, {"version", newVersion}, {"demo", newDemo},
	{"__agent", listed("__agent SESSION AGENT GENERATION FILE")}, {"hook", listed("hook CLI EVENT")}, {"__deliver", newDeliver}, {"__follow", newFollow}, {"__look", newLook}, {"__borders", newBorders},
	{"__notify", newNotify}, {"__pump", newPump}, {"__tick", newTick}, {"__held", newHeld}, {"__kept", newKept}, {"demo-agent", listed("demo-agent")}, {"__acp", listed("__acp NAME FOLDER ID new|again HOOK PROMPT PROGRAM...")},
	{"__state", newState}, {"__origin", newOrigin}, {orchestrator.FetchCommand, newFetching}, {"__upload", newUpload},
}

// commandsFor returns the commands that newRoot needs for the first word of a command line.
func commandsFor(word string) []command {
	for i, one := range allCommands {
		if one.name == word || slices.Contains(aliases[one.name], word) {
			return allCommands[i : i+1]
		}
	}
	return allCommands
}

// asUsage turns cobra's errors about the number of words into usage errors. If only the agent is
// missing, the hints name agents of the current session.
func (g suggester) asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var own *errs.Error
		if err == nil || errors.As(err, &own) {
			return err
		}
		if s := g.sessionHere(); len(args) == 0 && strings.Contains(cmd.Use, " AGENT") && len(s.Agents) > 0 {
			if h, homeErr := g.paw(); homeErr == nil {
				return g.whichAgent(cmd, h, s)
			}
		}
		return usagef(cmd, "%s: it is %s", strings.TrimSpace(cmd.CommandPath()+" "+strings.Join(args, " ")), useLine(cmd))
	}
}

// runBare runs paw without a command: it opens the desk, or prints the status or a short help.
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
		fmt.Fprint(a.stdout, helpPrinter{a}.withHeads(rootHelp))
		fmt.Fprintf(a.stdout, "  %-31s all commands\n\nno session here\n", cmd.CommandPath()+" --help")
		statusPrinter{a}.showStartHints(h)
		return nil
	}
	if a.canShowDesk() && len(statuses) > 0 {
		return openDesk(cmd.Context(), a, h, false)
	}
	return statusPrinter{a}.showStatus(cmd.Context(), h, statuses, problems, askHosts(cmd.Context(), h, false)())
}
