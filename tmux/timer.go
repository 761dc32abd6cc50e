package tmux

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/lazyregexp"
)

// Timer has tmux run a program once, after a delay. Of several timers of a pane the last one counts: a program that was
// started by an earlier one can tell by TimerMark.
type Timer struct {
	Pane    string // its id
	Mark    string // a word, new for each chain of timers
	After   time.Duration
	Program string
	Words   []string // the arguments
	// Env is the whole environment of the program.
	Env map[string]string
}

// argument is what is safe in a shell command as it is.
var argument = lazyregexp.New(`^[a-zA-Z0-9_-]+$`)

// variable is the name of an environment variable that is safe in a shell command.
var variable = lazyregexp.New(`^[A-Z_][A-Z0-9_]*$`)

// timerMark is the option of a pane that has the mark of its last timer.
const timerMark = "@paw_timer"

// SetTimer starts a timer. The program and its environment travel in the environment of the session, under names of
// their own; the shell command has only words.
func (c *Client) SetTimer(ctx context.Context, sessionID string, t Timer) error {
	if err := errors.Join(checkID('$', sessionID), checkID('%', t.Pane)); err != nil {
		return err
	}
	for _, word := range append([]string{t.Mark}, t.Words...) {
		if !argument.MatchString(word) {
			return errors.New("timer: not a word: " + word)
		}
	}
	set := func(name, value string) command {
		return command{"set-environment", "-t", sessionID, "PAW_TIMER_" + name, value}
	}
	commands := []command{set("PROGRAM", t.Program)}
	shell := "exec env -i"
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		if !variable.MatchString(name) {
			return errors.New("timer: not a variable: " + name)
		}
		commands = append(commands, set(name, t.Env[name]))
		shell += ` ` + name + `="$PAW_TIMER_` + name + `"`
	}
	shell += ` "$PAW_TIMER_PROGRAM" ` + strings.Join(t.Words, " ")
	delay := strconv.FormatFloat(t.After.Seconds(), 'f', -1, 64)
	_, err := c.callPieces(ctx, append(commands,
		command{"set-option", "-p", "-t", t.Pane, timerMark, t.Mark},
		command{"run-shell", "-b", "-d", delay, "-t", t.Pane, shell}))
	return err
}

// TimerMark is the mark of the last timer of a pane, "" without one.
func (c *Client) TimerMark(ctx context.Context, pane string) (string, error) {
	return c.fact(ctx, pane, "#{"+timerMark+"}")
}
