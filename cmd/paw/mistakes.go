package main

import (
	"errors"
	"fmt"
	"slices"

	"paw/config"
	"paw/config/display"
)

// What starts agents needs the user's whole configuration: an agent that was started without a part of it is not what the user
// has asked for. What only looks, or ends agents and deletes nothing, needs none of it.
var (
	starting = []string{"start", "add", "recover", "spawn", "run"}
	looking  = []string{"paw", "status", "attach", "turns", "log", "diff", "path", "sh", "clis", "wait", "done", "stop", "doctor"}
)

// forgives reports whether a mistake in the configuration does not stop the command that runs, and notes it once.
func (a *invocation) forgives(err error) bool {
	var mistake *config.Error
	if !errors.As(err, &mistake) || slices.Contains(starting, a.command) && !mistake.InRepository {
		return false
	}
	text := mistake.Error()
	if hint := mistake.Hint(); hint != "" && mistake.Unknown {
		text += " (" + hint + ")"
	}
	switch {
	case mistake.Unknown && mistake.InRepository:
		text += "; the key is left out"
	case mistake.Unknown:
		text += "; nothing is started until this is put right"
	case mistake.InRepository:
		text += "; the settings of the repository are left out"
	case slices.Contains(looking, a.command):
		text += "; the configuration is left out"
	default:
		return false
	}
	if !slices.Contains(a.forgiven, text) {
		a.forgiven = append(a.forgiven, text)
		if a.command != "doctor" { // which has it among its findings
			fmt.Fprintf(a.stderr, "paw: note: %s\n", display.Printable(text)) // beside JSON, too
		}
	}
	return true
}
