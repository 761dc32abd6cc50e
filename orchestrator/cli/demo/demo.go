// Package demo drives the demo CLI, the agent inside paw's own binary.
package demo

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/demo/program"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
)

// Driver is the driver of demo.
var Driver cli.Driver = driver{"demo"}

type driver struct{ cli.Named }

// Program returns the path of the running paw: demo is always installed.
func (driver) Program() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return "paw"
}

func (driver) Version(ctx context.Context, executable string, env []string) (string, error) {
	return "built in", nil
}

func (driver) NewConversation() string { return uuid.NewString() }

func (d driver) Launch(s cli.Spec) (cli.Command, error) {
	argv := append([]string{s.Executable, "demo-agent", "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt != "" {
		_, err := d.Literal(s.Prompt)
		if err = cmp.Or(err, prompts.CheckArgument(d.Name(), s.Prompt, s.Prompt)); err != nil {
			return cli.Command{}, err
		}
		argv = append(argv, "--", s.Prompt)
	}
	return d.command(s, argv)
}

func (d driver) Resume(s cli.Spec) (cli.Command, error) {
	return d.command(s, append([]string{s.Executable, "demo-agent", "--resume", s.ConversationID}, s.Args...))
}

// Fork copies the conversation from, under Spec.ConversationID.
func (d driver) Fork(s cli.Spec, from string) (cli.Command, error) {
	s.Args = slices.Concat([]string{"--fork", from}, s.Args)
	return d.Launch(s)
}

// hook names the program that the demo CLI reports to, as `PROGRAM hook demo EVENT`.
const hook = "PAW_HOOK"

func (d driver) command(s cli.Spec, argv []string) (cli.Command, error) {
	if s.Hook == "" {
		return cli.Command{Argv: argv, Unset: []string{hook}}, nil
	}
	return cli.Command{Argv: argv, Env: []string{hook + "=" + s.Hook}}, nil
}

// Conversation finds the file of an id; a conversation can be resumed once it has a prompt.
func (d driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	return records.Lookup(d.file(s), "demo has no conversation of this id", func(e program.Entry) bool { return e.Role == history.RoleUser })
}

func (driver) file(s cli.Spec) string {
	state := cli.Getenv(s.Env, "XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		state = cli.Folder(s.Env, "", ".local", "state")
	}
	return filepath.Join(state, "paw", "demo", s.ConversationID+".jsonl")
}

func (driver) Environment() []string { return []string{"XDG_STATE_HOME"} }

func (driver) Facts() cli.Facts {
	return cli.Facts{ChoosesID: true, Resume: "exact, by id", Turns: "exact, from hooks"}
}

// Headless runs the demo CLI with -p, whose standard output is the answer.
func (d driver) Headless(s cli.Spec) (cli.Command, error) {
	option, err := prompts.Session(d, s)
	if err != nil {
		return cli.Command{}, err
	}
	argv := append([]string{s.Executable, "demo-agent", option, s.ConversationID}, s.Args...)
	return cli.Command{Argv: append(argv, "-p", s.Prompt), Unset: []string{hook}}, prompts.CheckArgument(d.Name(), s.Prompt, s.Prompt)
}

// HeadlessLine returns every line: the whole output is the answer.
func (driver) HeadlessLine(line []byte) string { return string(line) + "\n" }

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

// Ready needs no wait after the start event: the demo CLI reads what was typed before it started.
func (driver) Ready() cli.Ready {
	return cli.Ready{Event: true, Box: true, Silent: true, Clear: "C-u"}
}

// Marks lists the variable that a launch sets.
func (driver) Marks() []string { return []string{hook} }
