package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	{"queue", newQueue}, {"spawn", newSpawn}, {"wait", newWait}, {"done", newDone}, {"ui", newUI}, {"clis", newCLIs}, {"config", newConfig}, {"host", newHost},
	{"doctor", newDoctor}, {"path", newPath}, {"sh", newSh}, {"env", newEnv}, {"blame", newBlame}, {"setup", newSetup}, {"tmux", newTmux}, {"completion", newCompletion}, {"version", newVersion}, {"demo", newDemo},
	{"__agent", listed("__agent SESSION AGENT GENERATION FILE")}, {"hook", listed("hook CLI EVENT")}, {"__deliver", newDeliver}, {"__follow", newFollow}, {"__look", newLook}, {"__borders", newBorders},
	{"__notify", newNotify}, {"__pump", newPump}, {"__tick", newTick}, {"__held", newHeld}, {"__kept", newKept}, {"__restore", newRestore}, {"demo-agent", listed("demo-agent")}, {"__acp", listed("__acp NAME FOLDER ID new|again HOOK PROMPT PROGRAM...")},
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
				return whichAgent(cmd.Context(), cmd, h, s)
			}
		}
		return wordsError(cmd, check, args)
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

// otherFlags maps flags of other programs to the flags that paw has instead.
var otherFlags = map[string]string{
	"V": "version", "agent": "cli", "b": "branches", "c": "cli", "file": "prompt-file", "format": "json", "host": "on", "m": "message", "o": "json", "output": "json", "session": "name", "t": "timeout", "tail": "most",
}

// flagLines maps a command and a flag it lacks to the command line that does what the flag asks
// for, in the form of otherWords.
var flagLines = map[string]string{
	"attach r": "paw log AGENT", "log oneline": "paw turns AGENT", "status s": "paw status", "status v": "paw status", "log f": "paw ui", "log follow": "paw ui",
	"purge all": "paw status --all", "remove all": "paw purge", "rewind to": "paw rewind AGENT", "send m": "paw send AGENT", "send message": "paw send AGENT",
	"start layout": "PAW_TMUX_LAYOUT=windows paw start", "status q": "paw status --json", "turns all": "paw turns", "turns n": "paw turns",
}

// bareFlags maps a command and a flag without a value that it lacks to the flags that it has for the same, "" for none.
var bareFlags = map[string]string{
	"diff cached": "", "diff p": "", "diff staged": "", "land no-ff": " --as merge", "land no-verify": " --no-check", "land rebase": " --as commits", "land squash": "",
	"remove r": "", "rewind hard": "", "stop f": "", "stop force": "", "stop y": "", "stop yes": "",
}

// agentFlags are flags of other programs for what is the first word of paw's commands.
var agentFlags = []string{"agent", "t", "target", "to"}

// flagNotes are additions to the error for entries of flagLines whose command line does more than
// the flag asks for.
var flagNotes = map[string]string{
	"remove all": "; paw purge takes the session away, with its record and merged branches",
}

// flagError says what is wrong with a flag, without the words of the flag library.
func (g suggester) flagError(cmd *cobra.Command, err error) error {
	var absent *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &absent):
		return g.noSuchFlag(cmd, absent)
	case errors.As(err, &bare):
		return usagef(cmd, "--%s: needs a value", bare.GetFlag().Name)
	case errors.As(err, &wrong):
		e := usagef(cmd, "--%s %s: %s", wrong.GetFlag().Name, wrong.GetValue(), wantedValue(wrong.GetFlag().Value.Type()))
		if lines := g.withUnits(wrong); len(lines) > 0 {
			e.Hints = lines
		}
		return e
	}
	return usagef(cmd, "%s", err.Error())
}

// withUnits returns the typed command lines with a unit for a time that has none.
func (g suggester) withUnits(wrong *pflag.InvalidValueError) (lines []string) {
	number := wrong.GetValue()
	if wrong.GetFlag().Value.Type() != "duration" || strings.Trim(number, "0123456789") != "" {
		return nil
	}
	for _, unit := range []string{"s", "m"} {
		if line := g.retyped(number, number+unit); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// noSuchFlag returns the error for a flag that a command lacks. If it is certain which flag or
// command line was meant, the error names it.
func (g suggester) noSuchFlag(cmd *cobra.Command, absent *pflag.NotExistError) error {
	name, dashes := absent.GetSpecifiedName(), "--"
	if absent.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	words := slices.DeleteFunc(slices.Clone(g.typed), func(word string) bool { return strings.HasPrefix(word, "-") })
	if !cmd.HasParent() && len(words) > 0 && !strings.HasPrefix(g.typed[0], "-") { // the command does not exist either
		return g.unknownCommand(cmd, words)
	}
	e := usagef(cmd, "%s%s: %s has no such flag", dashes, name, cmd.CommandPath())
	near := nearFlag(cmd, name)
	of := cmd.Name() + " " + name
	more, bare := bareFlags[of]
	switch line := flagLines[of]; {
	case bare:
		e.Hints = []string{g.withoutBare(cmd, dashes+name) + more}
	case line != "":
		e.Message += flagNotes[of]
		g.fillIn(e, line, words[1:])
	case g.namedByFlag(e, cmd, dashes+name):
	case name == "C":
		e.Message += "; it is about the place that you stand in"
	case name == "no-color" || name == "no-colour":
		e.Message += " (did you mean --color never?)"
		if line := g.withFlag(cmd, dashes+name, "color"); line != "" {
			e.Hints = []string{strings.Replace(line, "--color", "--color never", 1)}
		}
	case near != "":
		e.Message += fmt.Sprintf(" (did you mean --%s?)", near)
		if line := g.withFlag(cmd, dashes+name, near); line != "" {
			e.Hints = []string{line}
		}
	}
	return e
}

// namedByFlag sets the hint of an error to the typed command line with an agent where paw has it that was the value of a flag:
// in front of its CLI for start and add, else in front of the other words.
func (g suggester) namedByFlag(e *errs.Error, cmd *cobra.Command, flag string) bool {
	i := slices.IndexFunc(g.typed, func(word string) bool { return word == flag || strings.HasPrefix(word, flag+"=") })
	if i < 0 {
		return false
	}
	_, agent, joined := strings.Cut(g.typed[i], "=")
	rest := slices.Clone(g.typed[i+1:])
	if !joined && len(rest) > 0 {
		agent, rest = rest[0], rest[1:]
	}
	words, at := append(slices.Clone(g.typed[:i]), rest...), slices.Index(g.typed, cmd.CalledAs())+1
	switch name := strings.TrimLeft(flag, "-"); {
	case agent == "" || strings.HasPrefix(agent, "-"):
		return false
	case (cmd.Name() == "start" || addsAgents(cmd)) && (name == "agent" || name == "name"):
		at = slices.IndexFunc(words, func(word string) bool { return word == "--cli" || strings.HasPrefix(word, "--cli=") })
		if at >= 0 && words[at] == "--cli" {
			at++
		}
		if at < 0 || at == len(words) {
			return false
		}
		cli := strings.TrimPrefix(words[at], "--cli=")
		if strings.ContainsAny(cli, "=,") {
			return false
		}
		words[at] = strings.TrimSuffix(words[at], cli) + agent + "=" + cli
	case slices.Contains(agentFlags, name) && strings.Contains(cmd.Use, "AGENT") && nearFlag(cmd, name) == "":
		words = slices.Insert(words, at, agent)
	default:
		return false
	}
	e.Hints = []string{pasted(words)}
	return true
}

// withoutBare returns the typed command line without a flag that has no value, and with paw's own names for the command and
// other flags.
func (g suggester) withoutBare(cmd *cobra.Command, typed string) string {
	var words []string
	for i, word := range g.typed {
		name := strings.TrimLeft(word, "-")
		if near := nearFlag(cmd, name); name != word && near != "" && cmd.Flags().Lookup(name) == nil {
			word = "--" + near
		}
		if i == slices.Index(g.typed, cmd.CalledAs()) {
			word = cmd.Name()
		}
		bundle := len(typed) == len("-r") && !strings.HasPrefix(word, "--") && strings.HasPrefix(word, "-") && strings.Contains(word, typed[1:]) // as -rf
		if word != typed && !bundle {
			words = append(words, word)
		}
	}
	return pasted(words)
}

// withFlag returns the typed command line with another flag, near. If near takes no value, the
// value that was typed is left out, as json in -o json.
func (g suggester) withFlag(cmd *cobra.Command, typed, near string) string {
	bare := cmd.Flags().Lookup(near).NoOptDefVal != ""
	line, found := []string{"paw"}, false
	for i, word := range g.typed {
		flag, value, joined := strings.Cut(word, "=")
		switch {
		case i > 0 && found && bare && g.typed[i-1] == typed && otherFlags[strings.TrimLeft(typed, "-")] != "":
			continue
		case flag != typed || found:
			line = append(line, errs.Quote(word))
			continue
		case joined && !bare:
			line = append(line, "--"+near+"="+errs.Quote(value))
		default:
			line = append(line, "--"+near)
		}
		found = true
	}
	if !found {
		return ""
	}
	return strings.Join(line, " ")
}

// nearFlag returns the only flag of a command that a wrong name can mean, "" for none: the flag
// that otherFlags names, else a flag that begins with the name or is one keystroke away.
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

// wantedValue says which values a type of flag accepts.
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
