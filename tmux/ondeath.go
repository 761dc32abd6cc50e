package tmux

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// argument is what is safe in a shell command as it is.
var argument = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// variable is the name of an environment variable that is safe in a shell command.
var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// OnDeath has tmux run a program when the program of a pane ends (the hook pane-died, which needs remain-on-exit), with
// the arguments given for that pane. The program and its environment, which is nothing else, travel in the environment
// of the session, under names of their own; the hook itself has only words. The last call for a pane counts.
func (c *Client) OnDeath(ctx context.Context, sessionID, program string, env map[string]string, arguments map[string][]string) error {
	if err := checkID('$', sessionID); err != nil {
		return err
	}
	set := func(name, value string) command {
		return command{"set-environment", "-t", sessionID, "PAW_HOOK_" + name, value}
	}
	commands := []command{set("PROGRAM", program)}
	shell := "exec env -i"
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !variable.MatchString(name) {
			return errors.New("hook: not a variable: " + name)
		}
		commands = append(commands, set(name, env[name]))
		shell += ` ` + name + `="$PAW_HOOK_` + name + `"`
	}
	shell += ` "$PAW_HOOK_PROGRAM" `
	for _, pane := range slices.Sorted(maps.Keys(arguments)) {
		if err := checkID('%', pane); err != nil {
			return err
		}
		for _, a := range arguments[pane] {
			if !argument.MatchString(a) {
				return errors.New("hook: not a word: " + a)
			}
		}
		run := unaliased("run-shell") + " -b '" + shell + strings.Join(arguments[pane], " ") + "'"
		commands = append(commands, command{"set-hook", "-p", "-t", pane, "pane-died", run})
	}
	_, err := c.callPieces(ctx, commands)
	return err
}
