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

// as returns the driver as the optional interface T, or plain, the defaults, where the driver does
// not implement T.
func as[T any](c CLI) T {
	if d, ok := c.Driver.(T); ok {
		return d
	}
	return any(plain{}).(T)
}

// Version asks the program for its version; a driver that is not Versioned is asked with --version.
func (c CLI) Version(ctx context.Context, executable string, env []string) (string, error) {
	return as[Versioned](c).Version(ctx, executable, env)
}

// CheckID refuses an id by the driver's rule or, for a driver without one, by the rule for ids of
// letters, digits, "-", "_" and ".".
func (c CLI) CheckID(id string) error {
	if d, ok := c.Driver.(Identifier); ok {
		return d.CheckID(id)
	}
	return CheckID(c.Name(), id)
}

// Marks returns the driver's marker variables, none for a driver that has none.
func (c CLI) Marks() []string { return as[EnvironmentMarker](c).Marks() }

// Launch returns the driver's command for a first start, with the configured wrapper, arguments and
// environment.
func (c CLI) Launch(s Spec) (Command, error) {
	return c.start(s, c.checkNew(s), c.Driver.Launch)
}

// Resume returns the driver's command that opens a conversation again, with the configured wrapper,
// arguments and environment.
func (c CLI) Resume(s Spec) (Command, error) {
	return c.start(s, c.CheckID(s.ConversationID), c.Driver.Resume)
}

// Fork returns the driver's command that copies a conversation, or ErrCannotFork.
func (c CLI) Fork(s Spec, from string) (Command, error) {
	return c.start(s, cmp.Or(c.CheckID(from), c.checkNew(s)), func(s Spec) (Command, error) { return as[Forker](c).Fork(s, from) })
}

// Headless returns the driver's command for one turn without a terminal, or ErrNoHeadless.
func (c CLI) Headless(s Spec) (Command, error) {
	return c.start(s, c.checkNew(s), as[Headless](c).Headless)
}

// HeadlessLine returns what a user wants to read of one line of a headless turn's output: the line
// itself where the driver does not know its form.
func (c CLI) HeadlessLine(line []byte) string { return as[Headless](c).HeadlessLine(line) }

// HeadlessResult returns the answer of a headless turn from its whole standard output.
func (c CLI) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return as[Headless](c).HeadlessResult(stdout, exitCode)
}

// Conversation looks Spec.ConversationID up in the CLI's files, in the configured environment.
func (c CLI) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := c.CheckID(s.ConversationID); err != nil {
		return Conversation{}, err
	}
	return c.Driver.Conversation(ctx, c.extend(s))
}

// Learn returns the ids of the conversations that began since Spec.Since, without those that
// CheckID refuses.
func (c CLI) Learn(ctx context.Context, s Spec) ([]string, error) {
	ids, err := as[ConversationFinder](c).Learn(ctx, c.extend(s))
	return slices.DeleteFunc(ids, func(id string) bool { return c.CheckID(id) != nil }), err
}

// HeldBy returns the process that has the conversation open, 0 for none and for a driver that cannot tell.
func (c CLI) HeldBy(s Spec) int { return as[Occupied](c).HeldBy(c.extend(s)) }

// History reads the conversation from the CLI's own record, or returns ErrNoTranscript.
func (c CLI) History(ctx context.Context, s Spec) (Transcript, error) {
	return as[TranscriptReader](c).History(ctx, c.extend(s))
}

// Uses returns what the answers of the conversation cost, or ErrNoTranscript.
func (c CLI) Uses(ctx context.Context, s Spec) ([]Use, error) {
	return as[UsageReader](c).Uses(ctx, c.extend(s))
}

// Event reads a hook's payload; the error of a payload that cannot be read names the hook.
func (c CLI) Event(name string, payload []byte) (turn.Event, error) {
	e, err := as[Reporter](c).Event(name, payload)
	if err != nil {
		return turn.Event{}, fmt.Errorf("%s: hook %s: %w", c.Name(), name, err)
	}
	return e, nil
}

// Decide waits until the question of a hook's call is over, where the CLI lets the hook answer it, and returns what the hook
// prints.
func (c CLI) Decide(ctx context.Context, s Spec, name string, payload []byte) string {
	return as[Decider](c).Decide(ctx, c.extend(s), name, payload)
}

// Rests stores that the CLI waits for a prompt, for Observe.
func (c CLI) Rests(s Spec, e turn.Event) error { return as[Resting](c).Rests(c.extend(s), e) }

// Gauge keeps what a call of the status line was told; for a driver without a status line it does
// nothing.
func (c CLI) Gauge(s Spec, launch string, payload []byte) (Gauged, error) {
	return as[Gauger](c).Gauge(c.extend(s), launch, payload)
}

// Windows returns the last known usage limits, without those that have begun anew by now.
func (c CLI) Windows(s Spec, now time.Time) []session.Window {
	return slices.DeleteFunc(as[Gauger](c).Windows(c.extend(s)), func(w session.Window) bool { return !now.Before(w.Until) })
}

// AwaitsEnd reports whether the CLI waits for the hook of that name; without a driver that says so,
// it does not.
func (c CLI) AwaitsEnd(name string) bool { return as[Awaiting](c).AwaitsEnd(name) }

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
	seen, err := as[Observer](c).Observe(ctx, c.extend(s), last)
	if errors.Is(err, fs.ErrNotExist) {
		return Observed{}, nil
	}
	return seen, err
}

// Away returns the CLI's processes that work for the agent outside of its pane.
func (c CLI) Away(s Spec) []Away { return as[Leaver](c).Away(c.extend(s)) }

// EndAway returns the command that ends a process of Away, with the configured wrapper in place of
// the driver's program.
func (c CLI) EndAway(s Spec, a Away) (Command, bool) {
	command, can := as[Leaver](c).EndAway(c.extend(s), a)
	if can && len(c.command) > 1 {
		command.Argv = slices.Insert(slices.Clone(command.Argv), 1, c.command[1:]...)
	}
	command.Env = slices.Concat(c.entries(), command.Env)
	return command, can
}

// Leaves reports whether the program can take a conversation out of its pane.
func (c CLI) Leaves() bool { _, can := c.Driver.(Leaver); return can }

// Ready says how the CLI shows that it takes typed input; the zero Ready for a driver that does not
// say.
func (c CLI) Ready() Ready { return as[Typed](c).Ready() }

// Literal returns the text to paste so that the CLI takes a prompt for text and not for a command.
func (c CLI) Literal(prompt string) (string, error) { return as[Typed](c).Literal(prompt) }

// Pastes splits a text into the parts to paste; one part for a driver that does not split.
func (c CLI) Pastes(text string, rows int) []string { return as[Paster](c).Pastes(text, rows) }

// Canonical returns a prompt as the CLI keeps it; by default without the blanks around it.
func (c CLI) Canonical(prompt string) string { return as[Paster](c).Canonical(prompt) }

// Screen recognizes what the CLI shows; nothing for a driver that reads no screens.
func (c CLI) Screen(shot Screenshot) Screen {
	seen := as[Screener](c).Screen(shot)
	if seen.Dialog != "" {
		asked, ok := c.Question(shot)
		seen.Listed = ok && asked.Outside
	}
	return seen
}

// Question reads the question on the screen; false for a driver that reads no screens.
func (c CLI) Question(shot Screenshot) (Question, bool) { return as[Screener](c).Question(shot) }

// Channel returns the driver's way into a running CLI beside its terminal; NoChannel for a driver
// without one.
func (c CLI) Channel(s Spec) Channel { return as[Channeled](c).Channel(c.extend(s)) }

// checkNew refuses an id under which no conversation can begin. An empty id is allowed where the
// CLI chooses its own.
func (c CLI) checkNew(s Spec) error {
	if s.ConversationID == "" && !c.Facts().ChoosesID {
		return nil
	}
	return c.CheckID(s.ConversationID)
}

// extend puts the configured arguments before the launch's own and adds the configured environment
// to the given one. The environment may decide where the CLI keeps its conversations.
func (c CLI) extend(s Spec) Spec {
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
	command, err := of(c.extend(s))
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
	if len(c.command) > 1 {
		command.Argv = slices.Insert(slices.Clone(command.Argv), 1, c.command[1:]...)
	}
	command.Env = slices.Concat(c.entries(), command.Env)
	return command, nil
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

// plain has the defaults for a program of which only the methods of Driver are known: it reports no
// turns, keeps no record, takes every text for a prompt and has no headless mode.
type plain struct{}

func (plain) Version(ctx context.Context, executable string, env []string) (string, error) {
	return askVersion(ctx, executable, env)
}

func (plain) Marks() []string                                               { return nil }
func (plain) Fork(Spec, string) (Command, error)                            { return Command{}, ErrCannotFork }
func (plain) Learn(context.Context, Spec) ([]string, error)                 { return nil, nil }
func (plain) HeldBy(Spec) int                                               { return 0 }
func (plain) History(context.Context, Spec) (Transcript, error)             { return Transcript{}, ErrNoTranscript }
func (plain) Uses(context.Context, Spec) ([]Use, error)                     { return nil, ErrNoTranscript }
func (plain) Event(string, []byte) (turn.Event, error)                      { return turn.Event{}, nil }
func (plain) Decide(context.Context, Spec, string, []byte) string           { return "" }
func (plain) AwaitsEnd(string) bool                                         { return false }
func (plain) Rests(Spec, turn.Event) error                                  { return nil }
func (plain) Observe(context.Context, Spec, *turn.Record) (Observed, error) { return Observed{}, nil }
func (plain) Gauge(Spec, string, []byte) (Gauged, error)                    { return Gauged{}, nil }
func (plain) Windows(Spec) []session.Window                                 { return nil }
func (plain) Away(Spec) []Away                                              { return nil }
func (plain) EndAway(Spec, Away) (Command, bool)                            { return Command{}, false }
func (plain) Headless(Spec) (Command, error)                                { return Command{}, ErrNoHeadless }
func (plain) HeadlessLine(line []byte) string                               { return string(line) + "\n" }
func (plain) HeadlessResult([]byte, int) (string, error)                    { return "", ErrNoHeadless }
func (plain) Ready() Ready                                                  { return Ready{} }
func (plain) Literal(prompt string) (string, error)                         { return prompt, nil }
func (plain) Pastes(text string, _ int) []string                            { return []string{text} }
func (plain) Canonical(prompt string) string                                { return Trimmed(prompt) }
func (plain) Screen(Screenshot) Screen                                      { return Screen{} }
func (plain) Question(Screenshot) (Question, bool)                          { return Question{}, false }
func (plain) Channel(Spec) Channel                                          { return NoChannel{} }
