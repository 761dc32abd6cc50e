package agent

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

type qwen struct{ plain }

func (qwen) Name() string    { return "qwen" }
func (qwen) Program() string { return "qwen" }

func (qwen) Version(ctx context.Context, executable string, env []string) (string, error) {
	return askVersion(ctx, executable, env)
}

func (qwen) NewConversation() string { return uuid.NewString() }

func (q qwen) Launch(s Spec) (Command, error) {
	if err := checkID(q.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt != "" {
		argument, err := interactivePrompt(q.Name(), s.Prompt)
		if err != nil {
			return Command{}, err
		}
		argv = append(argv, argument)
	}
	return Command{Argv: argv}, nil
}

func (q qwen) Resume(s Spec) (Command, error) {
	if err := checkID(q.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	return Command{Argv: append([]string{s.Executable, "--resume", s.ConversationID}, s.Args...)}, nil
}

// Conversation finds ID.jsonl in the folder of the worktree; qwen resumes it nowhere else.
func (q qwen) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(q.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	home := getenv(s.Env, "QWEN_RUNTIME_DIR")
	if home == "" {
		home = folder(s.Env, "QWEN_HOME", ".qwen")
	}
	name := strings.Map(func(r rune) rune {
		if alphanumeric(r) {
			return r
		}
		return '-'
	}, resolved(s.Worktree))
	file := filepath.Join(home, "projects", name, "chats", s.ConversationID+".jsonl")
	used, err := holds(file, func(line struct {
		Type string `json:"type"`
	}) bool {
		return line.Type == "user"
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Conversation{Reason: "qwen has no conversation of this id here"}, nil
	case err != nil:
		return Conversation{}, err
	case !used:
		return Conversation{Found: true, Transcript: file, NewID: true, Reason: "the conversation has no message yet"}, nil
	}
	return Conversation{Found: true, Resumable: true, Transcript: file}, nil
}

// Learn returns none: qwen takes an id from paw.
func (qwen) Learn(context.Context, Spec) ([]string, error) { return nil, nil }

func (qwen) Environment() []string { return []string{"QWEN_RUNTIME_DIR", "QWEN_HOME"} }

func (qwen) Facts() Facts {
	return Facts{ChoosesID: true, Resume: "exact, by id", Fork: "no", Headless: "qwen -p", Turns: "from hooks"}
}
