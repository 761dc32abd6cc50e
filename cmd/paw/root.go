package main

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// otherFlags are flags of other programs, with the flag that commands of paw have instead.
var otherFlags = map[string]string{
	"V": "version", "agent": "cli", "b": "branches", "c": "cli", "format": "json", "m": "message", "o": "json", "output": "json", "t": "timeout",
}

// flagLines are flags that a command does not have, by command and flag, with the line that does what they ask for, as in
// otherWords.
var flagLines = map[string]string{
	"attach r": "paw log AGENT", "diff name-only": "paw diff AGENT --stat", "log f": "paw ui", "log follow": "paw ui", "log n": "paw turns AGENT", "log tail": "paw turns AGENT",
	"purge all": "paw status --all", "remove all": "paw purge", "rewind to": "paw rewind AGENT",
	"send file": "paw send AGENT", "send m": "paw send AGENT", "send message": "paw send AGENT",
	"start layout": "PAW_TMUX_LAYOUT=windows paw start", "status q": "paw status --json", "stop f": "paw stop", "stop force": "paw stop", "stop y": "paw stop", "stop yes": "paw stop",
	"turns all": "paw turns", "turns n": "paw turns",
}

// flagError says of a flag what is wrong, without words of the library that reads flags.
func (a *invocation) flagError(cmd *cobra.Command, err error) error {
	var absent *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &absent):
		return a.noSuchFlag(cmd, absent)
	case errors.As(err, &bare):
		return usagef(cmd, "--%s: needs a value", bare.GetFlag().Name)
	case errors.As(err, &wrong):
		return usagef(cmd, "--%s %s: %s", wrong.GetFlag().Name, wrong.GetValue(), wantedValue(wrong.GetFlag().Value.Type()))
	}
	return usagef(cmd, "%s", err.Error())
}

// noSuchFlag is the error of a flag that a command does not have, with the flag or the line that is meant where that is
// certain.
func (a *invocation) noSuchFlag(cmd *cobra.Command, absent *pflag.NotExistError) error {
	name, dashes := absent.GetSpecifiedName(), "--"
	if absent.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	e := usagef(cmd, "%s%s: %s has no such flag", dashes, name, cmd.CommandPath())
	near := nearFlag(cmd, name)
	switch line := flagLines[cmd.Name()+" "+name]; {
	case line != "":
		a.fillIn(e, line, cmd.Flags().Args())
	case name == "C":
		e.Message += "; it is about the place that you stand in"
	case name == "no-color" || name == "no-colour":
		e.Message += " (did you mean --color never?)"
	case near != "":
		e.Message += fmt.Sprintf(" (did you mean --%s?)", near)
	}
	return e
}

// nearFlag is the flag of a command that another name can only mean, "" for none: it is what other programs call it, the
// begin of one name alone, or one keystroke away.
func nearFlag(cmd *cobra.Command, name string) string {
	if other := otherFlags[name]; other != "" && cmd.Flags().Lookup(other) != nil {
		return other
	}
	var near []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if len(name) > 2 && strings.HasPrefix(f.Name, name) || oneSlip(f.Name, name) {
			near = append(near, f.Name)
		}
	})
	if len(near) != 1 {
		return ""
	}
	return near[0]
}

// wantedValue says what a flag of a type takes.
func wantedValue(kind string) string {
	switch kind {
	case "bool":
		return "this flag takes no value"
	case "duration":
		return "not a time, such as 90s or 10m"
	case "int":
		return "not a number"
	}
	return "not a value that it takes"
}

// helpWidth is how many columns a line of help takes at most.
const helpWidth = 80

// helpGroups are the commands as paw --help lists them.
var helpGroups = []struct{ head, commands string }{
	{"START", "start add attach recover"},
	{"LOOK", "ui status turns diff log"},
	{"TALK", "send answer wait"},
	{"LAND, UNDO, TIDY", "land rewind stop remove purge"},
}

// rootHelp is paw --help: examples, the commands by what one wants, exit codes last.
const rootHelp = `Several AI coding CLIs at once on one repository: each gets a git branch, a
worktree and a tmux pane. After a crash everything comes back.

EXAMPLES
  paw start --cli claude,codex    two branches, two worktrees, two panes
  paw land claude                 what it has done, into your branch
  paw recover                     after a crash: same panes, same conversations
`

const rootHelpEnd = `MORE         run seen review usage next check forecast bisect update pr path sh
FOR AGENTS   spawn, done; paw help agents is the page for them to read
PAW ITSELF   clis, config, doctor, tmux, completion, version

Without a command it is paw ui where a session exists. %s COMMAND
--help says more. --color auto|always|never and --no-pager go with each command.

EXIT STATUS  0 ok, 1 error, 2 usage, 3 refused to protect work, 4 an agent waits
for you, 5 an agent failed, 6 prompt not confirmed, 7 time-out, 8 conflict,
9 check failed, 10 not found, 11 locked, 12 program missing, 130 interrupted
`

// showHelp prints the help of a command: how it is typed, examples, what it does, flags, and how it exits.
func (a *invocation) showHelp(cmd *cobra.Command) {
	head := func(text string) string { return a.paint(text, styleHead) }
	if !cmd.HasParent() {
		fmt.Fprintln(a.stdout, a.withHeads(rootHelp))
		for _, group := range helpGroups {
			fmt.Fprintln(a.stdout, head(group.head))
			for _, name := range strings.Fields(group.commands) {
				if sub, _, err := cmd.Find([]string{name}); err == nil {
					fmt.Fprintf(a.stdout, "  %-9s %s\n", name, sub.Short)
				}
			}
		}
		fmt.Fprintf(a.stdout, a.withHeads(rootHelpEnd), cmd.CommandPath())
		return
	}
	text, codes, _ := strings.Cut(cmd.Long, "\n\nEXIT STATUS\n")
	fmt.Fprintf(a.stdout, "%s\n  %s\n", head("USAGE"), useLine(cmd))
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(a.stdout, "  also: %s\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.Example != "" {
		fmt.Fprintf(a.stdout, "\n%s\n%s\n", head("EXAMPLES"), cmd.Example)
	}
	fmt.Fprintf(a.stdout, "\n%s\n", reflowed(text, helpWidth))
	for _, sub := range cmd.Commands() {
		fmt.Fprintf(a.stdout, "\n%s\n  %s  %s\n", head("COMMANDS"), sub.CommandPath(), sub.Short)
	}
	flags := cmd.NonInheritedFlags()
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			f.Usage = "show this"
		}
	})
	fmt.Fprintf(a.stdout, "\n%s\n%s", head("FLAGS"), flags.FlagUsagesWrapped(helpWidth))
	if codes != "" {
		fmt.Fprintf(a.stdout, "\n%s\n%s\n", head("EXIT STATUS"), codes)
	}
}

// withHeads paints the words in capitals that begin lines.
func (a *invocation) withHeads(text string) string {
	for _, word := range []string{"EXAMPLES", "MORE", "FOR AGENTS", "PAW ITSELF", "EXIT STATUS"} {
		text = strings.Replace(text, word, a.paint(word, styleHead), 1)
	}
	return text
}

// reflowed is text with its paragraphs filled up to width; indented ones stay as they are.
func reflowed(text string, width int) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = strings.Join(columns.Wrap(strings.ReplaceAll(p, "\n", " "), width, len(p)+1), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// agentsPage is what paw help agents prints, for an AI agent to read; docs/agents.md has it, too.
//
//go:embed agents.txt
var agentsPage string

// newHelp is paw help COMMAND.
func newHelp(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "Show the help of a command",
		Hidden: true,

		ValidArgsFunction: completeTopics,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "agents" { // whom paw agents lists, as paw status does
				fmt.Fprintln(a.stdout, strings.TrimSpace(agentsPage))
				return nil
			}
			of, rest, err := cmd.Root().Find(args)
			if err != nil || of == cmd.Root() && len(args) > 0 || len(rest) > 0 {
				return a.unknownCommand(cmd.Root(), args)
			}
			a.showHelp(of)
			return nil
		},
	}
}
