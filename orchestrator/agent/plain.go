package agent

import (
	"context"

	"paw/session/turn"
)

// Plain is the name of a program of which nothing more is known: it reports no turns, keeps no record, takes every text
// for a prompt and has no mode but its dialogue.
type Plain string

// Name is the name itself.
func (p Plain) Name() string { return string(p) }

// Program is the name.
func (p Plain) Program() string { return string(p) }

// Version asks with --version.
func (Plain) Version(ctx context.Context, executable string, env []string) (string, error) {
	return askVersion(ctx, executable, env)
}

// Environment has nothing.
func (Plain) Environment() []string { return nil }

// Marks has nothing.
func (Plain) Marks() []string { return nil }

// NewConversation leaves the id to the CLI.
func (Plain) NewConversation() string { return "" }

// CheckID refuses what no CLI uses.
func (p Plain) CheckID(id string) error { return CheckID(string(p), id) }

// Fork is ErrCannotFork.
func (Plain) Fork(Spec, string) (Command, error) { return Command{}, ErrCannotFork }

// Learn finds nothing.
func (Plain) Learn(context.Context, Spec) ([]string, error) { return nil, nil }

// History is ErrNoTranscript.
func (Plain) History(context.Context, Spec) (Transcript, error) {
	return Transcript{}, ErrNoTranscript
}

// Uses is ErrNoTranscript.
func (Plain) Uses(context.Context, Spec) ([]Use, error) { return nil, ErrNoTranscript }

// Event knows none.
func (Plain) Event(string, []byte) (turn.Event, error) { return turn.Event{}, nil }

// AwaitsEnd is false: there is no hook that another process could go on with.
func (Plain) AwaitsEnd(string) bool { return false }

// Observe knows nothing.
func (Plain) Observe(context.Context, Spec, *turn.Record) (Observed, error) {
	return Observed{}, nil
}

// Headless is ErrNoHeadless.
func (Plain) Headless(Spec) (Command, error) { return Command{}, ErrNoHeadless }

// HeadlessLine is the line itself.
func (Plain) HeadlessLine(line []byte) string { return string(line) + "\n" }

// HeadlessResult is ErrNoHeadless.
func (Plain) HeadlessResult([]byte, int) (string, error) { return "", ErrNoHeadless }

// Ready is nothing: nothing tells.
func (Plain) Ready() Ready { return Ready{} }

// Literal is the prompt itself.
func (Plain) Literal(prompt string) (string, error) { return prompt, nil }

// Pastes is the text in one.
func (Plain) Pastes(text string, _ int) []string { return []string{text} }

// Canonical cuts off the blanks around a prompt, as every CLI does.
func (Plain) Canonical(prompt string) string { return Trimmed(prompt) }

// Screen recognizes nothing.
func (Plain) Screen(Screenshot) Screen { return Screen{} }

// Question recognizes none.
func (Plain) Question(Screenshot) (Question, bool) { return Question{}, false }
