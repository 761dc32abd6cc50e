package agent

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
)

type qwen struct{}

func (qwen) Name() string    { return "qwen" }
func (qwen) Program() string { return "qwen" }

func (qwen) NewConversation() string { return uuid.NewString() }

func (q qwen) Launch(s Spec) (Command, error) {
	if err := checkID(q.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt != "" {
		if err := checkWord(q.Name(), s.Prompt, exits...); err != nil {
			return Command{}, err
		}
		argument, err := interactivePrompt(q.Name(), s.Prompt)
		if err != nil {
			return Command{}, err
		}
		argv = append(argv, argument)
	}
	return q.command(s, argv)
}

func (q qwen) Resume(s Spec) (Command, error) {
	if err := checkID(q.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	return q.command(s, append([]string{s.Executable, "--resume", s.ConversationID}, s.Args...))
}

var qwenSettings = systemSettings{
	cli: "qwen", variable: "QWEN_CODE_SYSTEM_SETTINGS_PATH", guard: "QWEN_CODE",
	linux: "/etc/qwen-code/settings.json", darwin: "/Library/Application Support/QwenCode/settings.json",
}

func (q qwen) command(s Spec, argv []string) (Command, error) {
	if s.Hook == "" {
		return Command{Argv: argv}, nil
	}
	return qwenSettings.launch(s, argv, qwenHooks, nil)
}

// file is where the conversation of the worktree is, if there is one.
func (qwen) file(s Spec) string {
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
	return filepath.Join(home, "projects", name, "chats", s.ConversationID+".jsonl")
}

// Conversation finds ID.jsonl in the folder of the worktree; qwen resumes it nowhere else.
func (q qwen) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(q.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	file := q.file(s)
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

func (q qwen) Literal(prompt string) (string, error) {
	return spaced(prompt), cmp.Or(checkWord(q.Name(), prompt, exits...), checkCommand(q.Name(), prompt))
}

// Ready: the input box is drawn before qwen asks for pastes to be marked as such, and then the line breaks of a paste are
// lost; the event comes after both, but also while qwen asks for a login. Enter right after a paste is lost.
func (qwen) Ready() Ready {
	return Ready{Event: true, Box: true, Silent: true, Settle: 500 * time.Millisecond, Clear: "C-u"}
}

func (qwen) Environment() []string { return []string{"QWEN_RUNTIME_DIR", "QWEN_HOME"} }

func (qwen) Facts() Facts {
	return Facts{ChoosesID: true, Resume: "exact, by id", Fork: "no", Headless: "qwen -p", Turns: "from hooks"}
}

// Marks has what a launch sets, too.
func (qwen) Marks() []string { return qwenSettings.marks() }
