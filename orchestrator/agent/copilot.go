package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

type copilot struct{}

func (copilot) Name() string    { return "copilot" }
func (copilot) Program() string { return "copilot" }

func (copilot) NewConversation() string { return uuid.NewString() }

func (c copilot) Launch(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	command, err := c.hooks(s)
	if err != nil {
		return Command{}, err
	}
	argv := slices.Concat([]string{s.Executable, "--session-id=" + s.ConversationID}, command.Argv, s.Args)
	if s.Prompt != "" {
		if err := checkWord(c.Name(), s.Prompt, copilotWords...); err != nil {
			return Command{}, err
		}
		argument := "--interactive=" + spaced(s.Prompt)
		if err := checkPrompt(c.Name(), s.Prompt, argument); err != nil {
			return Command{}, err
		}
		argv = append(argv, argument)
	}
	command.Argv = argv
	return command, nil
}

func (c copilot) Resume(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	command, err := c.hooks(s)
	if err != nil {
		return Command{}, err
	}
	command.Argv = slices.Concat([]string{s.Executable, "--resume=" + s.ConversationID}, command.Argv, s.Args)
	return command, nil
}

// Conversation finds the folder of an id. Without a message copilot cannot resume it, but starts it again.
func (c copilot) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	file := c.file(s)
	if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) {
		return Conversation{Reason: "copilot has no conversation of this id"}, nil
	}
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

// file is the record of a conversation.
func (copilot) file(s Spec) string {
	return filepath.Join(folder(s.Env, "COPILOT_HOME", ".copilot"), "session-state", s.ConversationID, "events.jsonl")
}

// Literal: a leading space makes text of "/". Before "!" it does so in an argument only.
func (c copilot) Literal(prompt string) (string, error) {
	if strings.HasPrefix(trimLeft(prompt), "!") {
		return "", &PromptError{CLI: c.Name(), Reason: `a prompt that begins with "!", typed, would run as a shell command`}
	}
	return spaced(prompt), checkWord(c.Name(), prompt, copilotWords...)
}

// copilotWords are the prompts of one word that copilot takes for commands.
var copilotWords = append(slices.Clone(exits), "help")

// Ready: sessionStart comes only with the first prompt, hence the input box.
func (copilot) Ready() Ready {
	return Ready{Box: true, Silent: true, Settle: 500 * time.Millisecond}
}

func (copilot) Environment() []string { return []string{"COPILOT_HOME"} }

func (copilot) Facts() Facts {
	return Facts{ChoosesID: true, Resume: "exact, by id", Fork: "no", Headless: "copilot -p", Turns: "from hooks", OwnHooks: true, LateHooks: true}
}
