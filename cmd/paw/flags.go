package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// otherFlags are flags of other programs, with the flag that commands of paw have instead.
var otherFlags = map[string]string{
	"V": "version", "agent": "cli", "b": "branches", "c": "cli", "format": "json", "m": "message", "o": "json", "output": "json", "t": "timeout",
}

// flagLines are flags that a command does not have, by command and flag, with the line that does what they ask for, as in
// otherWords.
var flagLines = map[string]string{
	"attach r": "paw log AGENT", "diff name-only": "paw diff AGENT --stat", "log f": "paw ui", "log follow": "paw ui", "log n": "paw turns AGENT", "log tail": "paw turns AGENT",
	"purge all": "paw status --all", "remove all": "paw purge", "rewind to": "paw rewind AGENT",
	"send all": "paw send AGENTS", "send file": "paw send AGENT", "send m": "paw send AGENT", "send message": "paw send AGENT", "send p": "paw send AGENT", "send prompt": "paw send AGENT",
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
