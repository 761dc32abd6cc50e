package agent

import (
	"context"
	"strings"
	"unicode"

	"paw/session/turn"
)

// plain has the answers of a CLI that reports no turns and has no other modes than its dialogue.
type plain struct{}

func (plain) Events(string, []byte) ([]turn.Event, error) { return nil, nil }

func (plain) Observe(context.Context, Spec, *turn.Record) (Observed, error) { return Observed{}, nil }

func (plain) Headless(Spec) (Command, error) { return Command{}, ErrNoHeadless }

func (plain) HeadlessLine(line []byte) string { return string(line) + "\n" }

func (plain) HeadlessResult([]byte, int) (string, error) { return "", ErrNoHeadless }

func (plain) Fork(Spec, string) (Command, error) { return Command{}, ErrCannotFork }

func (plain) History(context.Context, Spec) (Transcript, error) { return Transcript{}, ErrNoTranscript }

func (plain) Literal(prompt string) (string, error) { return prompt, nil }

func (plain) Pastes(text string, _ int) []string { return []string{text} }

func (plain) Canonical(prompt string) string { return trimmed(prompt) }

func (plain) Ready() Ready { return Ready{} }

func (plain) Screen(Screenshot) Screen { return Screen{} }

// spaced puts a space before a prompt that begins with "/" (a command of most CLIs) or "!" (one of the shell).
func spaced(prompt string) string {
	if strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "!") {
		return " " + prompt
	}
	return prompt
}

// trimLeft cuts what CLIs in JavaScript cut off the begin of a prompt.
func trimLeft(prompt string) string {
	return strings.TrimLeftFunc(prompt, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}
