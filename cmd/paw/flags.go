package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"paw/orchestrator/errs"
)

// otherFlags maps flags of other programs, or such a flag of one command, to the flag that paw has instead, "" for none: what stands
// behind such a flag is a word of its own.
var otherFlags = map[string]string{
	"V": "version", "agent": "", "b": "branches", "c": "cli", "file": "prompt-file", "format": "json", "host": "on", "m": "message", "no-color": "color=never",
	"no-colour": "color=never", "o": "json", "output": "json", "session": "name", "t": "timeout", "tail": "most", "target": "", "to": "",
	"attach t": "", "diff cached": "", "diff p": "", "diff staged": "", "land no-ff": "as=merge", "land no-verify": "no-check", "land rebase": "as=commits",
	"land squash": "", "remove r": "", "rewind hard": "", "send m": "", "send message": "", "status q": "json", "status s": "", "status v": "",
	"stop f": "", "stop force": "", "stop y": "", "stop yes": "", "turns all": "",
}

// flagsElsewhere maps a command and a flag that it lacks to the command that has the flag.
var flagsElsewhere = map[string]string{"status since": "turns"}

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
		if number := wrong.GetValue(); wrong.GetFlag().Value.Type() == "duration" && strings.Trim(number, "0123456789") == "" {
			e.Instead = errs.Instead{Of: number, By: number + "s"}
		}
		return e
	}
	return usagef(cmd, "%s", err.Error())
}

// noSuchFlag returns the error for a flag that a command lacks. If it is certain which flag or
// command line was meant, the error names it.
func (g suggester) noSuchFlag(cmd *cobra.Command, absent *pflag.NotExistError) error {
	name, typed := absent.GetSpecifiedName(), "--"+absent.GetSpecifiedName()
	if absent.GetSpecifiedShortnames() != "" {
		typed = typed[1:]
	}
	words := slices.DeleteFunc(slices.Clone(g.typed), func(word string) bool { return strings.HasPrefix(word, "-") })
	if !cmd.HasParent() && len(words) > 0 && !strings.HasPrefix(g.typed[0], "-") { // the command does not exist either
		return g.unknownCommand(cmd, words)
	}
	e := usagef(cmd, "%s: %s has no such flag", typed, cmd.CommandPath())
	by, known := otherFlag(cmd, name)
	if near := nearest(name, flagNames(cmd)); !known && len(near) == 1 {
		by, known = near[0], true
	}
	at := slices.IndexFunc(g.typed, func(word string) bool {
		return word == typed || strings.HasPrefix(word, typed+"=") || by == "" && word == "-"+absent.GetSpecifiedShortnames() // as in -rf
	})
	other, elsewhere := flagsElsewhere[cmd.Name()+" "+name]
	switch {
	case elsewhere:
		e.Hints = []string{g.changed(slices.Index(g.typed, cmd.CalledAs()), 1, other)}
	case name == "C":
		e.Message += "; it is about the place that you stand in"
	case known && at >= 0:
		if by != "" {
			e.Message += fmt.Sprintf(" (did you mean --%s?)", by)
		}
		e.Hints = []string{g.withFlag(cmd, at, by)}
	}
	return e
}

// withFlag returns the typed line with another flag in a place, or with the value of the flag alone. See changed.
func (g suggester) withFlag(cmd *cobra.Command, at int, by string) string {
	_, value, joined := strings.Cut(g.typed[at], "=")
	flag, n := cmd.Flags().Lookup(by), 1
	switch takesNone := flag != nil && flag.NoOptDefVal != ""; {
	case by == "" && joined:
		return g.changed(at, n, value)
	case by == "":
		return g.changed(at, n)
	case joined && !takesNone:
		by += "=" + value
	case takesNone && at+1 < len(g.typed) && g.typed[at+1] == by: // as in -o json
		n = 2
	}
	return g.changed(at, n, "--"+by)
}

// otherFlag returns the flag of a command that otherFlags has for a name.
func otherFlag(cmd *cobra.Command, name string) (by string, known bool) {
	if by, known = otherFlags[cmd.Name()+" "+name]; known {
		return by, true
	}
	by, known = otherFlags[name]
	flag, _, _ := strings.Cut(by, "=")
	return by, known && (cmd.Flags().Lookup(flag) != nil || by == "" && strings.Contains(cmd.Use, "AGENT"))
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
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
