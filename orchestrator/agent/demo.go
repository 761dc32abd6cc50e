package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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
	return Command{Argv: argv}, nil
}

func (d demo) Resume(s Spec) (Command, error) {
	if err := checkID(d.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	return Command{Argv: append([]string{s.Executable, "demo-agent", "--resume", s.ConversationID}, s.Args...)}, nil
}

// Conversation finds the file of an id; it can be resumed once the user said something.
func (d demo) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(d.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	state := getenv(s.Env, "XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		state = folder(s.Env, "", ".local", "state")
	}
	file := filepath.Join(state, "paw", "demo", s.ConversationID+".jsonl")
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

func (demo) Learn(context.Context, Spec) ([]string, error) { return nil, nil }

func (demo) Environment() []string { return []string{"XDG_STATE_HOME"} }

func (demo) Facts() Facts {
	return Facts{ChoosesID: true, Resume: "exact, by id", Fork: "no", Headless: "paw demo-agent -p", Turns: "exact, from hooks"}
}
