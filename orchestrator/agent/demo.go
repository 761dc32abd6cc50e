package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// demo is the agent inside paw's own binary.
type demo struct{}

func (demo) Name() string { return "demo" }

// Program is the running paw: it is always installed.
func (demo) Program() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return "paw"
}

func (demo) Version(ctx context.Context, executable string, env []string) (string, error) {
	return "built in", nil
}

func (demo) NewConversation() string { return uuid.NewString() }

func (d demo) Launch(s Spec) (Command, error) {
	if err := checkID(d.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "demo-agent", "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt != "" {
		if err := checkPrompt(d.Name(), s.Prompt, s.Prompt); err != nil {
			return Command{}, err
		}
		argv = append(argv, "--", s.Prompt)
	}
	return d.command(s, argv)
}

func (d demo) Resume(s Spec) (Command, error) {
	if err := checkID(d.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	return d.command(s, append([]string{s.Executable, "demo-agent", "--resume", s.ConversationID}, s.Args...))
}

// Fork copies the conversation from, under Spec.ConversationID.
func (d demo) Fork(s Spec, from string) (Command, error) {
	for _, id := range []string{from, s.ConversationID} {
		if err := checkID(d.Name(), id); err != nil {
			return Command{}, err
		}
	}
	s.Args = slices.Concat([]string{"--fork", from}, s.Args)
	return d.Launch(s)
}

// demoHook names the program that the demo CLI reports to, as `PROGRAM hook demo EVENT`.
const demoHook = "PAW_HOOK"

func (d demo) command(s Spec, argv []string) (Command, error) {
	if s.Hook == "" {
		return Command{Argv: argv, Unset: []string{demoHook}}, nil
	}
	if !filepath.IsAbs(s.Hook) {
		return Command{}, fmt.Errorf("demo: hooks: %q is not an absolute path", s.Hook)
	}
	return Command{Argv: argv, Env: []string{demoHook + "=" + s.Hook}}, nil
}

// Conversation finds the file of an id; it can be resumed once the user said something.
func (d demo) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(d.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	file := d.file(s)
	used, err := holds(file, func(line struct {
		Role string `json:"role"`
	}) bool {
		return line.Role == "user"
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Conversation{Reason: "demo has no conversation of this id"}, nil
	case err != nil:
		return Conversation{}, err
	case !used:
		return Conversation{Found: true, Transcript: file, NewID: true, Reason: "the conversation has no message yet"}, nil
	}
	return Conversation{Found: true, Resumable: true, Transcript: file}, nil
}

func (demo) file(s Spec) string {
	state := getenv(s.Env, "XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		state = folder(s.Env, "", ".local", "state")
	}
	return filepath.Join(state, "paw", "demo", s.ConversationID+".jsonl")
}

func (demo) Environment() []string { return []string{"XDG_STATE_HOME"} }

func (demo) Facts() Facts {
	return Facts{ChoosesID: true, Resume: "exact, by id", Fork: "yes", Headless: "paw demo-agent -p", Turns: "exact, from hooks"}
}

// Headless runs the demo CLI with -p, whose standard output is the answer.
func (d demo) Headless(s Spec) (Command, error) {
	found, err := d.Conversation(context.Background(), s)
	if err != nil {
		return Command{}, err
	}
	option := "--session-id"
	switch {
	case found.Resumable:
		option = "--resume"
	case found.NewID:
		return Command{}, &ConversationError{CLI: d.Name(), ID: s.ConversationID, Reason: found.Reason}
	}
	argv := append([]string{s.Executable, "demo-agent", option, s.ConversationID}, s.Args...)
	return Command{Argv: append(argv, "-p", s.Prompt), Unset: []string{demoHook}}, checkPrompt(d.Name(), s.Prompt, s.Prompt)
}

// HeadlessLine: all that it says is its answer.
func (demo) HeadlessLine(line []byte) string { return string(line) + "\n" }

func (d demo) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message := strings.TrimRight(string(stdout), "\n")
	if exitCode != 0 {
		return "", &TurnError{CLI: d.Name(), Message: message, ExitCode: exitCode}
	}
	return message, nil
}

// Literal: the demo CLI trims a prompt; line feeds at its end would only hide its input line.
func (d demo) Literal(prompt string) (string, error) {
	return strings.TrimRight(prompt, "\n"), checkWord(d.Name(), prompt, "/help", "/exit")
}

// Ready: the demo CLI reports its start and reads what was typed before.
func (demo) Ready() Ready { return Ready{Event: true, Box: true, Silent: true, Clear: "C-u"} }

// Marks has what a launch sets.
func (demo) Marks() []string { return []string{demoHook} }
