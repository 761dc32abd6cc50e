package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"paw/orchestrator/fault"
)

// aliases are the words for commands that users of gh, git, tmux and the like type.
var aliases = map[string][]string{
	"attach": {"open", "switch"}, "ui": {"dashboard", "tui"}, "land": {"merge"}, "log": {"logs", "history"}, "recover": {"resume", "restore"}, "remove": {"rm"},
	"status": {"ls", "list", "ps"}, "stop": {"kill"},
}

// otherWords are words that are no commands, with the command that does what they ask for; AGENT stands for the word that
// was typed behind.
var otherWords = map[string]string{
	"allow": "paw answer AGENT yes", "apply": "paw land AGENT", "approve": "paw answer AGENT yes", "deny": "paw answer AGENT no", "ask": "paw send AGENT", "branches": "paw status --all", "cancel": "paw attach AGENT",
	"cd": "paw path AGENT", "clean": "paw purge", "commit": "paw land AGENT", "create": "paw start", "delete": "paw remove AGENT",
	"docs": "paw --help", "down": "paw stop", "exec": "paw sh AGENT", "focus": "paw attach AGENT", "gc": "paw purge", "go": "paw attach AGENT",
	"init": "paw start", "interrupt": "paw attach AGENT", "man": "paw --help", "new": "paw start", "pause": "paw stop AGENT", "prompt": "paw send AGENT",
	"prune": "paw purge", "restart": "paw recover AGENT", "rollback": "paw rewind AGENT", "sessions": "paw status --all", "settings": "paw config",
	"shell": "paw sh AGENT", "show": "paw diff AGENT", "tags": "paw turns", "tail": "paw log AGENT", "tell": "paw send AGENT", "top": "paw status --watch",
	"undo": "paw rewind AGENT --undo", "up": "paw start", "view": "paw diff AGENT",
	"watch": "paw status --watch", "worktree": "paw path AGENT",
}

// pushing are words for what git does with an agent's branch.
var pushing = []string{"pr", "push"}

// unknownCommand is the error of a word that is no command, with the one that is meant where that is certain.
func (a *app) unknownCommand(root *cobra.Command, args []string) error {
	word := args[0]
	e := &usageError{message: word + ": no such command", hint: root.CommandPath() + " --help"}
	meant, known := otherWords[strings.ToLower(word)]
	switch near := nearCommands(root, word); {
	case slices.Contains(pushing, word):
		e.message += "; the work of an agent is on its branch, for git to push"
		e.hint = "git push origin " + a.branchOf(root, args[1:])
	case known:
		agent := "AGENT"
		if len(args) > 1 {
			agent = fault.Quote(args[1])
		}
		e.hint = strings.Replace(meant, "AGENT", agent, 1)
	case len(near) > 0:
		e.message += fmt.Sprintf(" (did you mean %s?)", strings.Join(near, " or "))
	}
	return e
}

// branchOf is the branch of the agent that is named, or of the only one; else what stands for a branch of paw.
func (a *app) branchOf(root *cobra.Command, words []string) string {
	_, s, agent, err := a.oneAgent(root, "", words)
	if err != nil || s.Worktree(agent) == nil {
		return "paw/SESSION/AGENT"
	}
	return fault.Quote(s.Worktree(agent).Branch)
}

// nearCommands are the commands that a mistyped word can only mean: it is the begin of one, or one keystroke away.
func nearCommands(root *cobra.Command, word string) []string {
	var near []string
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		for _, name := range append([]string{cmd.Name()}, cmd.Aliases...) {
			if strings.HasPrefix(name, word) || oneSlip(name, word) {
				near = append(near, cmd.Name())
				break
			}
		}
	}
	return near
}

// oneSlip reports whether one letter too many, too few, wrong, or two in the wrong order make word out of name. Words of
// two letters are too short to say that of.
func oneSlip(name, word string) bool {
	if len(name) < 3 || len(word) < 3 {
		return false
	}
	for len(name) > 0 && len(word) > 0 && name[0] == word[0] {
		name, word = name[1:], word[1:]
	}
	for len(name) > 0 && len(word) > 0 && name[len(name)-1] == word[len(word)-1] {
		name, word = name[:len(name)-1], word[:len(word)-1]
	}
	return len(name) <= 1 && len(word) <= 1 || len(name) == 2 && len(word) == 2 && name[0] == word[1] && name[1] == word[0]
}

// flagError says of a flag what is wrong, without words of the library that reads flags.
func flagError(cmd *cobra.Command, err error) error {
	var absent *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &absent) && absent.GetSpecifiedShortnames() != "":
		return usagef(cmd, "-%s: %s has no such flag", absent.GetSpecifiedName(), cmd.CommandPath())
	case errors.As(err, &absent):
		return usagef(cmd, "--%s: %s has no such flag", absent.GetSpecifiedName(), cmd.CommandPath())
	case errors.As(err, &bare):
		return usagef(cmd, "--%s: needs a value", bare.GetFlag().Name)
	case errors.As(err, &wrong):
		return usagef(cmd, "--%s %s: %s", wrong.GetFlag().Name, wrong.GetValue(), wantedValue(wrong.GetFlag().Value.Type()))
	}
	return usagef(cmd, "%s", err.Error())
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

// wordsError says that a command has too many or too few words; err is what the check of them said.
func wordsError(cmd *cobra.Command, check cobra.PositionalArgs, args []string) error {
	typed := strings.TrimSpace(cmd.CommandPath() + " " + strings.Join(args, " "))
	if len(cmd.ValidArgs) > 0 && len(args) > 0 {
		return usagef(cmd, "%s: it takes one of %s", typed, strings.Join(cmd.ValidArgs, ", "))
	}
	what := "a word is missing"
	for n := range args {
		if check(cmd, args[:n]) == nil {
			what = fmt.Sprintf("%s is one word too many", fault.Quote(args[n]))
		}
	}
	return usagef(cmd, "%s: %s; it is %s", typed, what, useLine(cmd))
}

// useLine is how a command is typed, with paw in front.
func useLine(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.Parent().CommandPath() + " " + cmd.Use
	}
	return cmd.CommandPath() + " COMMAND"
}
