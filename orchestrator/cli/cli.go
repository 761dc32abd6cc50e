// Package cli describes an AI coding CLI to the rest of paw: how it is launched, how a conversation
// of it is resumed, where it keeps its conversations, and how it reports its turns. The package
// reads a CLI's own files and starts nothing but the CLI: for its version and, where files do not
// have them, for its conversations.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"paw/session"
	"paw/session/turn"
)

// CLI is one AI coding program as the user has configured it.
type CLI struct {
	Driver
	command []string // replaces the driver's program; nil keeps the program
	args    []string
	env     map[string]string
}

// Configure returns the CLI of a driver with what the user's configuration adds: a wrapper command
// in place of the program, arguments and environment variables.
func Configure(d Driver, command, args []string, env map[string]string) CLI {
	return CLI{Driver: d, command: command, args: args, env: env}
}

// Program returns the configured wrapper's first word, or the driver's program.
func (c CLI) Program() string {
	if len(c.command) > 0 {
		return c.command[0]
	}
	return c.Driver.Program()
}

// NewConversation returns an id for a conversation that does not exist yet, or "" where the CLI
// picks its own.
func (c CLI) NewConversation() string {
	if c.Facts().ChoosesID {
		return uuid.NewString()
	}
	return ""
}

// Launch returns the driver's command for a first start, with the configured wrapper and environment.
func (c CLI) Launch(s Spec) (Command, error) {
	return c.start(s, c.checkNew(s), c.Driver.Launch)
}

// Resume returns the driver's command that opens a conversation again.
func (c CLI) Resume(s Spec) (Command, error) {
	return c.start(s, c.CheckID(s.ConversationID), c.Driver.Resume)
}

// Fork returns the driver's command that copies a conversation, or ErrCannotFork.
func (c CLI) Fork(s Spec, from string) (Command, error) {
	return c.start(s, cmp.Or(c.CheckID(from), c.checkNew(s)), func(s Spec) (Command, error) { return c.Driver.Fork(s, from) })
}

// Headless returns the driver's command for one turn without a terminal, or ErrNoHeadless.
func (c CLI) Headless(s Spec) (Command, error) {
	if s.ConversationID == "" && c.Facts().RunPicks {
		return c.start(s, nil, c.Driver.Headless)
	}
	return c.start(s, c.checkNew(s), c.Driver.Headless)
}

// Conversation looks Spec.ConversationID up in the CLI's files.
func (c CLI) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := c.CheckID(s.ConversationID); err != nil {
		return Conversation{}, err
	}
	return c.Driver.Conversation(ctx, s)
}

// Learn returns the ids of the conversations that began since Spec.Since, without those that
// CheckID refuses.
func (c CLI) Learn(ctx context.Context, s Spec) ([]string, error) {
	ids, err := c.Driver.Learn(ctx, s)
	return slices.DeleteFunc(ids, func(id string) bool { return c.CheckID(id) != nil }), err
}

// Event reads a hook's payload; the error of a payload that cannot be read names the hook.
func (c CLI) Event(name string, payload []byte) (turn.Event, error) {
	e, err := c.Driver.Event(name, payload)
	if err != nil {
		return turn.Event{}, fmt.Errorf("%s: hook %s: %w", c.Name(), name, err)
	}
	return e, nil
}

// Windows returns the last known usage limits, without those that have begun anew by now.
func (c CLI) Windows(s Spec, now time.Time) []session.Window {
	return slices.DeleteFunc(c.Driver.Windows(s), func(w session.Window) bool { return !now.Before(w.Until) })
}

// Observe reads the CLI's own record about the conversation of the open turn, else about the newest
// one. A conversation without a file gives an empty Observed and no error.
func (c CLI) Observe(ctx context.Context, s Spec, last *turn.Record) (Observed, error) {
	if last != nil && last.State == turn.InProgress && last.Conversation != "" {
		s.ConversationID = last.Conversation
	}
	if s.ConversationID == "" {
		return Observed{}, nil
	}
	if err := c.CheckID(s.ConversationID); err != nil {
		return Observed{}, err
	}
	seen, err := c.Driver.Observe(ctx, s, last)
	if errors.Is(err, fs.ErrNotExist) {
		return Observed{}, nil
	}
	return seen, err
}

// Away returns the driver's processes, with the configured wrapper around their commands.
func (c CLI) Away(s Spec) []Away {
	all := c.Driver.Away(s)
	for i := range all {
		all[i].End = c.wrapped(all[i].End)
	}
	return all
}

// checkNew refuses an id under which no conversation can begin. An empty id is allowed where the
// CLI chooses its own.
func (c CLI) checkNew(s Spec) error {
	if s.ConversationID == "" && !c.Facts().ChoosesID {
		return nil
	}
	return c.CheckID(s.ConversationID)
}

// Extend returns a Spec as all other methods take it: with the configured arguments before the
// launch's own, and the configured environment behind the given one. The environment may decide where
// the CLI keeps its conversations.
func (c CLI) Extend(s Spec) Spec {
	s.Args = slices.Concat(c.args, s.Args)
	if len(c.env) > 0 {
		s.Env = slices.Concat(environment(s.Env), c.entries())
	}
	return s
}

// start puts the configured wrapper and environment around a command of the driver, or returns the
// error refused. A hook or file whose path is not absolute is an error.
func (c CLI) start(s Spec, refused error, of func(Spec) (Command, error)) (Command, error) {
	if refused != nil {
		return Command{}, refused
	}
	command, err := of(s)
	if err != nil {
		return Command{}, err
	}
	places := []string{}
	if s.Hook != "" {
		places = append(places, s.Hook)
	}
	for _, file := range command.Files {
		places = append(places, file.Path)
	}
	for _, place := range places {
		if !filepath.IsAbs(place) {
			return Command{}, fmt.Errorf("%s: hooks: %q is not an absolute path", c.Name(), place)
		}
	}
	return c.wrapped(command), nil
}

// wrapped puts the configured wrapper and environment around a command of the driver.
func (c CLI) wrapped(command Command) Command {
	if len(c.command) > 1 && len(command.Argv) > 0 {
		command.Argv = slices.Insert(slices.Clone(command.Argv), 1, c.command[1:]...)
	}
	command.Env = slices.Concat(c.entries(), command.Env)
	return command
}

func (c CLI) entries() []string {
	var entries []string
	for _, key := range slices.Sorted(maps.Keys(c.env)) {
		entries = append(entries, key+"="+c.env[key])
	}
	return entries
}

// TurnError means that a headless turn did not succeed.
type TurnError struct {
	CLI      string
	Type     string // type of the error in the CLI's words, "" for none
	Message  string
	ExitCode int
}

// Error names the CLI and gives its message, or its exit code where it gave none.
func (e *TurnError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s: ended with exit code %d", e.CLI, e.ExitCode)
	}
	return e.CLI + ": " + e.Message
}

// PromptError means that a prompt cannot be given on the command line that starts a CLI.
type PromptError struct {
	CLI    string
	Reason string
	// Send reports whether the prompt can be typed instead, once the CLI is ready.
	Send bool
}

func (e *PromptError) Error() string { return e.CLI + ": " + e.Reason }

// ErrCannotFork means that a CLI cannot start a conversation as a copy of another one.
var ErrCannotFork = errors.New("cannot fork a conversation")

// ErrNoHeadless means that paw knows no headless mode of a CLI: one turn without a terminal.
var ErrNoHeadless = errors.New("has no headless mode")

// ErrNoTranscript means that a CLI keeps no record of its conversations that paw can read.
var ErrNoTranscript = errors.New("keeps no record of its conversations that paw can read")
