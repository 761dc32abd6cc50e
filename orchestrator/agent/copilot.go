package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

type copilot struct{ plain }

func (copilot) Name() string    { return "copilot" }
func (copilot) Program() string { return "copilot" }

func (copilot) Version(ctx context.Context, executable string, env []string) (string, error) {
	return askVersion(ctx, executable, env)
}

func (copilot) NewConversation() string { return uuid.NewString() }

func (c copilot) Launch(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "--session-id=" + s.ConversationID}, s.Args...)
	if s.Prompt != "" {
		prompt := s.Prompt
		if strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "!") {
			prompt = " " + prompt // else it is a command of copilot's or of the shell
		}
		argument := "--interactive=" + prompt
		if err := checkPrompt(c.Name(), s.Prompt, argument); err != nil {
			return Command{}, err
		}
		argv = append(argv, argument)
	}
	return Command{Argv: argv}, nil
}

func (c copilot) Resume(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	return Command{Argv: append([]string{s.Executable, "--resume=" + s.ConversationID}, s.Args...)}, nil
}

// Conversation finds the folder of an id. Without a message copilot cannot resume it, but starts it again.
func (c copilot) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	dir := filepath.Join(folder(s.Env, "COPILOT_HOME", ".copilot"), "session-state", s.ConversationID)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return Conversation{Reason: "copilot has no conversation of this id"}, nil
	}
	file := filepath.Join(dir, "events.jsonl")
	used, err := holds(file, func(line struct {
		Type string `json:"type"`
	}) bool {
		return line.Type == "user.message"
	})
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Conversation{}, err
	case !used:
		return Conversation{Found: true, Transcript: file, Reason: "the conversation has no message yet"}, nil
	}
	return Conversation{Found: true, Resumable: true, Transcript: file}, nil
}

// Learn returns none: copilot takes an id from paw.
func (copilot) Learn(context.Context, Spec) ([]string, error) { return nil, nil }

func (copilot) Environment() []string { return []string{"COPILOT_HOME"} }

func (copilot) Facts() Facts {
	return Facts{ChoosesID: true, Resume: "exact, by id", Fork: "no", Headless: "copilot -p", Turns: "from hooks"}
}
