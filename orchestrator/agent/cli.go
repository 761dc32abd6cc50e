// Package agent is what paw knows of each AI coding CLI: how it is launched, how its conversation is resumed, where it
// keeps that conversation, and how it tells of its turns. It reads the CLI's own files and starts nothing but the CLI
// itself: for its version and, where files do not say, for its conversations.
package agent

import (
	"context"
	"maps"
	"slices"

	"paw/session/turn"
)

// CLI is one AI coding program as the user has configured it. What its driver does not say is as with a program that
// reports no turns, takes every text for a prompt and has no mode but its dialogue.
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

// Version asks the program for its version: "2.1.197", or its first line where that has no number.
func (c CLI) Version(ctx context.Context, executable string, env []string) (string, error) {
	if d, ok := c.Driver.(Versioned); ok {
		return d.Version(ctx, executable, env)
	}
	return askVersion(ctx, executable, env)
}

// Launch is that of the driver, as configured.
func (c CLI) Launch(s Spec) (Command, error) {
	command, err := c.Driver.Launch(c.extend(s))
	return c.wrap(command), err
}

// Resume is that of the driver, as configured.
func (c CLI) Resume(s Spec) (Command, error) {
	command, err := c.Driver.Resume(c.extend(s))
	return c.wrap(command), err
}

// Conversation is that of the driver, in the configured environment.
func (c CLI) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	return c.Driver.Conversation(ctx, c.extend(s))
}

// Learn is that of a Learner; the others have no conversations that paw does not know.
func (c CLI) Learn(ctx context.Context, s Spec) ([]string, error) {
	if d, ok := c.Driver.(Learner); ok {
		return d.Learn(ctx, c.extend(s))
	}
	return nil, nil
}

// Events are those of a Reporter; the others report none.
func (c CLI) Events(name string, payload []byte) ([]turn.Event, error) {
	if d, ok := c.Driver.(Reporter); ok {
		return d.Events(name, payload)
	}
	return nil, nil
}

// AwaitsEnd is that of a driver that is Awaiting; the others call no hook that another process could go on with.
func (c CLI) AwaitsEnd(name string) bool {
	d, ok := c.Driver.(Awaiting)
	return ok && d.AwaitsEnd(name)
}

// Observe is that of an Observer; of the others nothing is known.
func (c CLI) Observe(ctx context.Context, s Spec, last *turn.Record) (Observed, error) {
	if d, ok := c.Driver.(Observer); ok {
		return d.Observe(ctx, c.extend(s), last)
	}
	return Observed{}, nil
}

// History is that of a Historian, ErrNoTranscript for the others.
func (c CLI) History(ctx context.Context, s Spec) (Transcript, error) {
	if d, ok := c.Driver.(Historian); ok {
		return d.History(ctx, c.extend(s))
	}
	return Transcript{}, ErrNoTranscript
}

// Headless is that of a driver that is Headless, as configured, ErrNoHeadless for the others.
func (c CLI) Headless(s Spec) (Command, error) {
	d, ok := c.Driver.(Headless)
	if !ok {
		return Command{}, ErrNoHeadless
	}
	command, err := d.Headless(c.extend(s))
	return c.wrap(command), err
}

// HeadlessLine is what to show of a line of such a turn, the line itself where nothing is known of it.
func (c CLI) HeadlessLine(line []byte) string {
	if d, ok := c.Driver.(Headless); ok {
		return d.HeadlessLine(line)
	}
	return string(line) + "\n"
}

// HeadlessResult is the answer of such a turn, ErrNoHeadless where there is none.
func (c CLI) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	if d, ok := c.Driver.(Headless); ok {
		return d.HeadlessResult(stdout, exitCode)
	}
	return "", ErrNoHeadless
}

// Fork is that of a Forker, as configured, ErrCannotFork for the others.
func (c CLI) Fork(s Spec, from string) (Command, error) {
	d, ok := c.Driver.(Forker)
	if !ok {
		return Command{}, ErrCannotFork
	}
	command, err := d.Fork(c.extend(s), from)
	return c.wrap(command), err
}

// Ready is that of a driver that is Typed; of the others nothing tells.
func (c CLI) Ready() Ready {
	if d, ok := c.Driver.(Typed); ok {
		return d.Ready()
	}
	return Ready{}
}

// Literal is that of a driver that is Typed, the prompt itself for the others.
func (c CLI) Literal(prompt string) (string, error) {
	if d, ok := c.Driver.(Typed); ok {
		return d.Literal(prompt)
	}
	return prompt, nil
}

// Pastes are those of a Paster, the text in one for the others.
func (c CLI) Pastes(text string, rows int) []string {
	if d, ok := c.Driver.(Paster); ok {
		return d.Pastes(text, rows)
	}
	return []string{text}
}

// Canonical is that of a Paster; every CLI cuts off the blanks around a prompt.
func (c CLI) Canonical(prompt string) string {
	if d, ok := c.Driver.(Paster); ok {
		return d.Canonical(prompt)
	}
	return Trimmed(prompt)
}

// Screen is that of a Screener; of the others nothing is recognized.
func (c CLI) Screen(shot Screenshot) Screen {
	if d, ok := c.Driver.(Screener); ok {
		return d.Screen(shot)
	}
	return Screen{}
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

func (c CLI) wrap(command Command) Command {
	if len(command.Argv) == 0 {
		return command
	}
	if len(c.command) > 1 {
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
