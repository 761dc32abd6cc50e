package cli

import (
	"context"

	"paw/session"
	"paw/session/turn"
)

// Named has the name of a program, which the user types, too. By the rest of its methods the program reports no turns, keeps no
// record, takes every text for a prompt and has no headless mode.
type Named struct {
	plain
	Of    string
	Known Facts
}

// Name returns the name that the user types.
func (n Named) Name() string { return n.Of }

// Program returns the name to look up on PATH.
func (n Named) Program() string { return n.Of }

// Facts returns what does not depend on a launch.
func (n Named) Facts() Facts { return n.Known }

// CheckID refuses an id that is not of letters, digits, "-", "_" and ".".
func (n Named) CheckID(id string) error { return CheckID(n.Of, id) }

type plain struct{}

func (plain) Fork(Spec, string) (Command, error)                            { return Command{}, ErrCannotFork }
func (plain) Learn(context.Context, Spec) ([]string, error)                 { return nil, nil }
func (plain) HeldBy(Spec) int                                               { return 0 }
func (plain) History(context.Context, Spec) (Transcript, error)             { return Transcript{}, ErrNoTranscript }
func (plain) Uses(context.Context, Spec) ([]Use, error)                     { return nil, ErrNoTranscript }
func (plain) Event(string, []byte) (turn.Event, error)                      { return turn.Event{}, nil }
func (plain) Decide(context.Context, Spec, string, []byte) string           { return "" }
func (plain) Rests(Spec, turn.Event) error                                  { return nil }
func (plain) Observe(context.Context, Spec, *turn.Record) (Observed, error) { return Observed{}, nil }
func (plain) Gauge(Spec, string, []byte) (Gauged, error)                    { return Gauged{}, nil }
func (plain) Windows(Spec) []session.Window                                 { return nil }
func (plain) Away(Spec) []Away                                              { return nil }
func (plain) Headless(Spec) (Command, error)                                { return Command{}, ErrNoHeadless }
func (plain) HeadlessLine(line []byte) (string, turn.Event)                 { return string(line) + "\n", turn.Event{} }
func (plain) HeadlessResult([]byte, int) (string, error)                    { return "", ErrNoHeadless }
func (plain) Literal(prompt string) (string, error)                         { return prompt, nil }
func (plain) Pastes(text string, _ int) []string                            { return []string{text} }
func (plain) Canonical(prompt string) string                                { return Trimmed(prompt) }
func (plain) Screen(Screenshot) Screen                                      { return Screen{} }
func (plain) Channel(Spec) Channel                                          { return NoChannel{} }
func (plain) HeadlessChannel(Spec) Channel                                  { return NoChannel{} }
