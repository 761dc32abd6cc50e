// Package demo drives the demo CLI, the agent inside paw's own binary.
package demo

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/demo/program"
	"paw/orchestrator/cli/internal/plain"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
	"paw/session/turn"
)

// Driver is the driver of demo.
var Driver cli.Driver = driver{cli.Named{Of: "demo", Known: cli.Facts{
	ChoosesID: true, Reports: 1, Version: "built in", Resume: "exact, by id", Turns: "exact, from hooks",
	Environment: []string{"XDG_STATE_HOME"},
	Marks:       []string{program.HookVariable},
	Ready:       cli.Ready{Event: true, Box: true, Silent: true, Clear: []string{"C-u"}}, // the demo CLI reads what was typed before it started
}}, plain.Reader{Who: "demo"}}

type driver struct {
	cli.Named
	plain.Reader
}

// Program returns the path of the running paw: demo is always installed.
func (driver) Program() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return "paw"
}

func (d driver) Launch(s cli.Spec) (cli.Command, error) {
	argv := append([]string{s.Executable, "demo-agent", "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt == "" {
		return d.command(s, argv), nil
	}
	_, err := d.Literal(s.Prompt)
	return d.command(s, append(argv, "--", s.Prompt)), cmp.Or(err, prompts.CheckArgument(d.Name(), s.Prompt, s.Prompt))
}

func (d driver) Resume(s cli.Spec) (cli.Command, error) {
	return d.command(s, append([]string{s.Executable, "demo-agent", "--resume", s.ConversationID}, s.Args...)), nil
}

// Fork copies the conversation from, under Spec.ConversationID.
func (d driver) Fork(s cli.Spec, from string) (cli.Command, error) {
	s.Args = slices.Concat([]string{"--fork", from}, s.Args)
	return d.Launch(s)
}

func (d driver) command(s cli.Spec, argv []string) cli.Command {
	if s.Hook == "" {
		return cli.Command{Argv: argv, Unset: []string{program.HookVariable}}
	}
	return cli.Command{Argv: argv, Env: []string{program.HookVariable + "=" + s.Hook}}
}

// Conversation finds the file of an id; a conversation can be resumed once it has a prompt.
func (d driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	return records.Lookup(d.file(s), "demo has no conversation of this id", func(e plain.Entry) bool { return e.Role == history.RoleUser })
}

func (driver) file(s cli.Spec) string {
	folder, _ := program.Folder(s.Env)
	return filepath.Join(folder, s.ConversationID+".jsonl")
}

// Headless runs the demo CLI with -p, whose standard output is the answer.
func (d driver) Headless(s cli.Spec) (cli.Command, error) {
	option, err := prompts.Session(d, s)
	if err != nil {
		return cli.Command{}, err
	}
	argv := append([]string{s.Executable, "demo-agent", option, s.ConversationID}, s.Args...)
	return cli.Command{Argv: append(argv, "-p", s.Prompt), Unset: []string{program.HookVariable}}, prompts.CheckArgument(d.Name(), s.Prompt, s.Prompt)
}

func (d driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message := strings.TrimRight(string(stdout), "\n")
	if exitCode != 0 {
		return "", &cli.TurnError{CLI: d.Name(), Message: message, ExitCode: exitCode}
	}
	return message, nil
}

// Literal trims line feeds: the demo CLI trims a prompt itself, but line feeds at the end would
// hide its input line.
func (d driver) Literal(prompt string) (string, error) {
	return strings.TrimRight(prompt, "\n"), prompts.CheckWord(d.Name(), prompt, "/help", "/exit")
}

func (d driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	return plain.History(ctx, d, s)
}

// Observe reads the end of the conversation's file, which has every event that hooks report.
func (d driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	return plain.ObserveFile(d.file(s), s, last)
}
