package agent

import (
	"context"
	"maps"
	"slices"

	"paw/session/turn"
)

// configured is a CLI with what the configuration adds to it: arguments, environment and, for a known CLI, a wrapper.
type configured struct {
	CLI
	command []string // replaces the program, nil for none
	args    []string
	env     map[string]string
}

func (c configured) Program() string {
	if len(c.command) > 0 {
		return c.command[0]
	}
	return c.CLI.Program()
}

func (c configured) Launch(s Spec) (Command, error) {
	command, err := c.CLI.Launch(c.extend(s))
	return c.wrap(command), err
}

func (c configured) Resume(s Spec) (Command, error) {
	command, err := c.CLI.Resume(c.extend(s))
	return c.wrap(command), err
}

func (c configured) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	return c.CLI.Conversation(ctx, c.extend(s))
}

func (c configured) Learn(ctx context.Context, s Spec) ([]string, error) {
	return c.CLI.Learn(ctx, c.extend(s))
}

func (c configured) Observe(ctx context.Context, s Spec, last *turn.Record) (Observed, error) {
	return c.CLI.Observe(ctx, c.extend(s), last)
}

func (c configured) History(ctx context.Context, s Spec) (Transcript, error) {
	return c.CLI.History(ctx, c.extend(s))
}

func (c configured) Headless(s Spec) (Command, error) {
	command, err := c.CLI.Headless(c.extend(s))
	return c.wrap(command), err
}

func (c configured) Fork(s Spec, from string) (Command, error) {
	command, err := c.CLI.Fork(c.extend(s), from)
	return c.wrap(command), err
}

// extend puts the configured arguments before those of the launch, and the configured environment, which may say where
// the CLI keeps its conversations, over the given one.
func (c configured) extend(s Spec) Spec {
	s.Args = slices.Concat(c.args, s.Args)
	if len(c.env) > 0 {
		s.Env = slices.Concat(environment(s.Env), c.entries())
	}
	return s
}

func (c configured) wrap(command Command) Command {
	if len(command.Argv) == 0 {
		return command
	}
	if len(c.command) > 1 {
		command.Argv = slices.Insert(slices.Clone(command.Argv), 1, c.command[1:]...)
	}
	command.Env = slices.Concat(c.entries(), command.Env)
	return command
}

func (c configured) entries() []string {
	var entries []string
	for _, key := range slices.Sorted(maps.Keys(c.env)) {
		entries = append(entries, key+"="+c.env[key])
	}
	return entries
}
