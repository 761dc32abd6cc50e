package tmux

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// variable is the name of an environment variable that is safe in a shell command.
var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// OnDeath has tmux run a program when the program of one of the panes ends (the hook pane-died, which needs
// remain-on-exit). The program and its environment, which is nothing else, travel in the environment of the session,
// under names of their own; the hook itself has only words. The last call for a pane counts.
func (c *Client) OnDeath(ctx context.Context, sessionID string, panes []string, program string, words []string, env map[string]string) error {
	if err := checkID('$', sessionID); err != nil {
		return err
	}
	for _, w := range words {
		if !word.MatchString(strings.TrimLeft(w, "_")) {
			return errors.New("hook: not a word: " + w)
		}
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
	shell += ` "$PAW_HOOK_PROGRAM" ` + strings.Join(words, " ")
	for _, pane := range panes {
		if err := checkID('%', pane); err != nil {
			return err
		}
		commands = append(commands, command{"set-hook", "-p", "-t", pane, "pane-died", unaliased("run-shell") + " -b '" + shell + "'"})
	}
	_, err := c.callPieces(ctx, commands)
	return err
}
