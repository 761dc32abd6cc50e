// Package cli is what paw knows of each AI coding CLI: how it is launched, how its conversation is resumed, where it
// keeps that conversation, and how it tells of its turns. It reads the CLI's own files and starts nothing but the CLI
// itself: for its version and, where files do not say, for its conversations.
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
	"strings"
	"time"

	"paw/session"
	"paw/session/turn"
)

// CLI is one AI coding program as the user has configured it.
type CLI struct {
	Driver
	command []string // replaces the program, nil for none
	args    []string
	env     map[string]string
}

// Configure is the CLI of a driver with what the configuration adds: a wrapper in place of the program, arguments and
// variables.
func Configure(d Driver, command, args []string, env map[string]string) CLI {
	return CLI{Driver: d, command: command, args: args, env: env}
}

// Program is the configured wrapper, or that of the driver.
func (c CLI) Program() string {
	if len(c.command) > 0 {
		return c.command[0]
	}
	return c.Driver.Program()
}

// as is the driver as one that can do something that not all can, or else what holds for the others.
func as[T any](c CLI) T {
	if d, ok := c.Driver.(T); ok {
		return d
	}
	return any(plain{}).(T)
}

// Version asks the program.
func (c CLI) Version(ctx context.Context, executable string, env []string) (string, error) {
	return as[Versioned](c).Version(ctx, executable, env)
}

// CheckID is that of the driver; the others have ids of letters, digits, "-" and "_".
func (c CLI) CheckID(id string) error {
	if d, ok := c.Driver.(Identifier); ok {
		return d.CheckID(id)
	}
	return CheckID(c.Name(), id)
}

// Marks are those of the driver, none of the others.
func (c CLI) Marks() []string { return as[EnvironmentMarker](c).Marks() }

// Launch is that of the driver, as configured.
func (c CLI) Launch(s Spec) (Command, error) {
	return c.start(s, c.checkNew(s), c.Driver.Launch)
}

// Resume is that of the driver, as configured.
func (c CLI) Resume(s Spec) (Command, error) {
	return c.start(s, c.CheckID(s.ConversationID), c.Driver.Resume)
}

// Fork is that of the driver, as configured, ErrCannotFork for the others.
func (c CLI) Fork(s Spec, from string) (Command, error) {
	return c.start(s, cmp.Or(c.CheckID(from), c.checkNew(s)), func(s Spec) (Command, error) { return as[Forker](c).Fork(s, from) })
}

// Headless is that of the driver, as configured, ErrNoHeadless for the others.
func (c CLI) Headless(s Spec) (Command, error) {
	return c.start(s, c.checkNew(s), as[Headless](c).Headless)
}

// HeadlessLine is what to show of a line of such a turn, the line itself where nothing is known of it.
func (c CLI) HeadlessLine(line []byte) string { return as[Headless](c).HeadlessLine(line) }

// HeadlessResult is the answer of such a turn.
func (c CLI) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return as[Headless](c).HeadlessResult(stdout, exitCode)
}

// Conversation is that of the driver, in the configured environment.
func (c CLI) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := c.CheckID(s.ConversationID); err != nil {
		return Conversation{}, err
	}
	return c.Driver.Conversation(ctx, c.extend(s))
}

// Learn is that of the driver, in the configured environment. What can be no id is left out.
func (c CLI) Learn(ctx context.Context, s Spec) ([]string, error) {
	ids, err := as[ConversationFinder](c).Learn(ctx, c.extend(s))
	return slices.DeleteFunc(ids, func(id string) bool { return c.CheckID(id) != nil }), err
}

// History is that of the driver, in the configured environment, ErrNoTranscript for the others.
func (c CLI) History(ctx context.Context, s Spec) (Transcript, error) {
	return as[TranscriptReader](c).History(ctx, c.extend(s))
}

// Uses are those of the driver, in the configured environment, ErrNoTranscript for the others.
func (c CLI) Uses(ctx context.Context, s Spec) ([]Use, error) {
	return as[UsageReader](c).Uses(ctx, c.extend(s))
}

// Event is that of the driver. The error of a payload that cannot be read names the hook.
func (c CLI) Event(name string, payload []byte) (turn.Event, error) {
	e, err := as[Reporter](c).Event(name, payload)
	if err != nil {
		return turn.Event{}, fmt.Errorf("%s: hook %s: %w", c.Name(), name, err)
	}
	return e, nil
}

// Gauge is that of the driver; the others have no such status line.
func (c CLI) Gauge(s Spec, launch string, payload []byte) (Gauged, error) {
	return as[Gauger](c).Gauge(c.extend(s), launch, payload)
}

// Windows are those of the driver that have not begun anew, none of the others.
func (c CLI) Windows(s Spec, now time.Time) []session.Window {
	return slices.DeleteFunc(as[Gauger](c).Windows(c.extend(s)), func(w session.Window) bool { return !now.Before(w.Until) })
}

// AwaitsEnd is that of the driver; the others call no hook that another process could go on with.
func (c CLI) AwaitsEnd(name string) bool { return as[Awaiting](c).AwaitsEnd(name) }

// Observe is that of the driver, in the configured environment, of the conversation of the open turn, else of the newest.
// Of a conversation without a file nothing is known.
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

// Away is that of the driver, in the configured environment; the others never leave their panes.
func (c CLI) Away(s Spec) []Away { return as[Leaver](c).Away(c.extend(s)) }

// EndAway is that of the driver, in the configured environment. The configured program stands in for the driver's.
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

// Ready is that of the driver; of the others nothing tells.
func (c CLI) Ready() Ready { return as[Typed](c).Ready() }

// Literal is that of the driver, the prompt itself for the others.
func (c CLI) Literal(prompt string) (string, error) { return as[Typed](c).Literal(prompt) }

// Pastes are those of the driver, the text in one for the others.
func (c CLI) Pastes(text string, rows int) []string { return as[Paster](c).Pastes(text, rows) }

// Canonical is that of the driver; every CLI cuts off the blanks around a prompt.
func (c CLI) Canonical(prompt string) string { return as[Paster](c).Canonical(prompt) }

// Screen is that of the driver; of the others nothing is recognized.
func (c CLI) Screen(shot Screenshot) Screen { return as[Screener](c).Screen(shot) }

// Question is that of the driver; the others ask nothing that is known.
func (c CLI) Question(shot Screenshot) (Question, bool) { return as[Screener](c).Question(shot) }

// Channel is that of the driver; into the others none leads but their terminals.
func (c CLI) Channel(s Spec) Channel { return as[Channeled](c).Channel(c.extend(s)) }

// checkNew refuses a conversation that is to begin, or to go on if it exists, under an id that it cannot have. It may have
// none where the CLI picks its own.
func (c CLI) checkNew(s Spec) error {
	if s.ConversationID == "" && !c.Facts().ChoosesID {
		return nil
	}
	return c.CheckID(s.ConversationID)
}

// extend puts the configured arguments before those of the launch, and the configured environment, which may say where
// the CLI keeps its conversations, over the given one.
func (c CLI) extend(s Spec) Spec {
	s.Args = slices.Concat(c.args, s.Args)
	if len(c.env) > 0 {
		s.Env = slices.Concat(environment(s.Env), c.entries())
	}
	return s
}

// start is a command of the driver with the configured program around it, unless the ids of its spec are refused. A hook or
// a file without a certain place is an error.
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

// ErrNotInstalled means that a program is not on the PATH that was asked.
var ErrNotInstalled = errors.New("not installed")

// ErrCannotFork means that a CLI cannot start a conversation as a copy of another one.
var ErrCannotFork = errors.New("cannot fork a conversation")

// ErrNoHeadless means that paw knows no mode of a CLI in which it runs one turn without a terminal.
var ErrNoHeadless = errors.New("has no headless mode")

// ErrNoTranscript means that a CLI keeps no record of its conversations that paw can read.
var ErrNoTranscript = errors.New("keeps no record of its conversations that paw can read")

// TurnError means that a headless turn did not succeed.
type TurnError struct {
	CLI      string
	Type     string // the CLI's word for it, "" where it has none
	Message  string
	ExitCode int
}

// Error names the CLI and what it says.
func (e *TurnError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s: ended with exit code %d", e.CLI, e.ExitCode)
	}
	return e.CLI + ": " + e.Message
}

// PromptError means that a prompt cannot be part of a start of this CLI.
type PromptError struct {
	CLI    string
	Reason string
	// Send tells that the prompt can be typed once the CLI is ready.
	Send bool
}

// Error names the CLI and the reason.
func (e *PromptError) Error() string { return e.CLI + ": " + e.Reason }

// ConversationError means that a conversation id cannot be put on a command line, or that the CLI cannot resume at all.
type ConversationError struct {
	CLI    string
	ID     string
	Reason string
}

// Error names the CLI, the id and the reason.
func (e *ConversationError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("%s: %s", e.CLI, e.Reason)
	}
	return fmt.Sprintf("%s: conversation %q: %s", e.CLI, e.ID, e.Reason)
}

// longestID is longer than any id that a CLI uses (36 characters, opencode 30).
const longestID = 128

// CheckID refuses an id that could be read as an option, leave its folder or match several files. Ids come from files
// that other programs write.
func CheckID(cli, id string) error {
	var reason string
	switch {
	case id == "":
		reason = "no conversation id"
	case len(id) > longestID:
		reason = "longer than an id can be"
	case strings.HasPrefix(id, "-") || strings.HasPrefix(id, "."):
		reason = "begins like an option or a path"
	case strings.ContainsFunc(id, func(r rune) bool {
		return !Alphanumeric(r) && !strings.ContainsRune("-_.", r)
	}):
		reason = "has a character no id has"
	default:
		return nil
	}
	return &ConversationError{CLI: cli, ID: id, Reason: reason}
}

// Alphanumeric is an ASCII letter or digit.
func Alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
