package cli

import (
	"context"
	"errors"

	"paw/session"
	"paw/session/turn"
)

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
func (plain) History(context.Context, Spec) (Transcript, error)             { return Transcript{}, ErrNoTranscript }
func (plain) Uses(context.Context, Spec) ([]Use, error)                     { return nil, ErrNoTranscript }
func (plain) Event(string, []byte) (turn.Event, error)                      { return turn.Event{}, nil }
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
func (plain) Channel(Spec) Channel                                          { return noChannel{} }
