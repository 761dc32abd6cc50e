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

// otherFlags maps flags of other programs to the flags that paw has instead.
var otherFlags = map[string]string{
	"V": "version", "b": "branches", "c": "cli", "file": "prompt-file", "format": "json", "host": "on", "m": "message", "no-color": "color=never",
	"no-colour": "color=never", "o": "json", "output": "json", "session": "name", "t": "timeout", "tail": "most",
}

// flagLines maps a command and a flag it lacks to what stands in the place of the flag, "" for nothing, or to a whole line in the
// form of otherWords.
var flagLines = map[string]string{
	"attach r": "paw log AGENT", "diff cached": "", "diff p": "", "diff staged": "", "land no-ff": "--as=merge", "land no-verify": "--no-check",
	"land rebase": "--as=commits", "land squash": "", "log f": "paw ui", "log follow": "paw ui", "log oneline": "paw turns AGENT",
	"purge all": "paw status --all", "remove all": "paw purge; paw purge takes the session away, with its record and merged branches", "remove r": "",
	"rewind hard": "", "rewind to": "", "send m": "", "send message": "", "status q": "--json", "status s": "", "status since": "paw turns --since ...", "status v": "", "stop f": "",
	"stop force": "", "stop y": "", "stop yes": "", "turns all": "", "turns n": "paw turns",
}

// agentFlags are flags of other programs for what is the first word of paw's commands.
var agentFlags = []string{"agent", "t", "target", "to"}

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
		if number := wrong.GetValue(); wrong.GetFlag().Value.Type() == "duration" && strings.Trim(number, "0123456789") == "" { // without its unit
			e.Hints = slices.DeleteFunc([]string{g.retyped(number, number+"s"), g.retyped(number, number+"m")}, func(line string) bool { return line == "" })
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
	line, known := flagLines[cmd.Name()+" "+name]
	near := nearFlag(cmd, name)
	switch {
	case strings.HasPrefix(line, "paw "):
		g.fillIn(e, line, words[1:])
	case known:
		g.replace(e, cmd, typed, line)
	case near != "":
		e.Message += fmt.Sprintf(" (did you mean --%s?)", near)
		g.replace(e, cmd, typed, "--"+near)
	case slices.Contains(agentFlags, name) && strings.Contains(cmd.Use, "AGENT"):
		g.replace(e, cmd, typed, "AGENT")
	case name == "C":
		e.Message += "; it is about the place that you stand in"
	}
	return e
}

// replace sets the hint of an error to the typed command line with by in place of a flag: the value of the flag alone if by is "", and
// that value where the agent is named if by is AGENT. Nothing is suggested where another word than an agent would then be first.
func (g suggester) replace(e *errs.Error, cmd *cobra.Command, flag, by string) {
	i := slices.IndexFunc(g.typed, func(word string) bool {
		return word == flag || strings.HasPrefix(word, flag+"=") || letters(word) && letters(flag) && strings.Contains(word, flag[1:])
	})
	if i < 0 {
		return
	}
	_, value, joined := strings.Cut(g.typed[i], "=")
	words, behind, at := slices.Clone(g.typed[:i]), g.typed[i+1:], slices.Index(g.typed, cmd.CalledAs())+1
	next := len(behind) > 0 && !strings.HasPrefix(behind[0], "-")
	meant := cmd.Flags().Lookup(strings.TrimPrefix(by, "--"))
	switch {
	case by == "AGENT" && next && !joined:
		words, behind = slices.Insert(words, at, behind[0]), behind[1:]
	case by == "AGENT":
		words = slices.Insert(words, at, value)
	case by == "" && joined:
		words = append(words, value)
	case by == "":
	case meant != nil && joined && meant.NoOptDefVal == "":
		words = append(words, by+"="+value)
	default:
		if words = append(words, by); meant != nil && meant.NoOptDefVal != "" && next && otherFlags[strings.TrimLeft(flag, "-")] != "" { // as in -o json
			behind = behind[1:]
		}
	}
	words = append(words, behind...)
	first := slices.IndexFunc(words[at:], func(word string) bool { return !strings.HasPrefix(word, "-") })
	if s := g.sessionHere(); by != "" && by != "AGENT" || first < 0 || len(s.Agents) == 0 || namesAgent(s, words[at+first]) {
		e.Hints = []string{pasted(words)}
	}
}

// nearFlag returns the only flag of a command that a wrong name can mean, "" for none: the flag
// that otherFlags names, else a flag that begins with the name or is one keystroke away.
func nearFlag(cmd *cobra.Command, name string) string {
	other, _, _ := strings.Cut(otherFlags[name], "=")
	if other != "" && cmd.Flags().Lookup(other) != nil {
		return otherFlags[name]
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
