// Package copilot is what paw knows of copilot.
package copilot

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

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/prompts"
	"paw/orchestrator/agent/internal/records"
)

// Driver is that of copilot.
var Driver agent.Driver = driver{"copilot"}

type driver struct{ agent.Named }

func (driver) NewConversation() string { return uuid.NewString() }

func (c driver) Launch(s agent.Spec) (agent.Command, error) {
	command := c.hooks(s)
	argv := slices.Concat([]string{s.Executable, "--session-id=" + s.ConversationID}, command.Argv, s.Args)
	if s.Prompt != "" {
		if err := prompts.CheckWord(c.Name(), s.Prompt, words...); err != nil {
			return agent.Command{}, err
		}
		argument := "--interactive=" + prompts.Spaced(s.Prompt)
		if err := prompts.CheckArgument(c.Name(), s.Prompt, argument); err != nil {
			return agent.Command{}, err
		}
		argv = append(argv, argument)
	}
	command.Argv = argv
	return command, nil
}

func (c driver) Resume(s agent.Spec) (agent.Command, error) {
	command := c.hooks(s)
	command.Argv = slices.Concat([]string{s.Executable, "--resume=" + s.ConversationID}, command.Argv, s.Args)
	return command, nil
}

// Conversation finds the folder of an id. Without a message copilot cannot resume it, but starts it again.
func (c driver) Conversation(ctx context.Context, s agent.Spec) (agent.Conversation, error) {
	file := c.file(s)
	if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) {
		return agent.Conversation{Reason: "copilot has no conversation of this id"}, nil
	}
	used, err := records.Holds(file, func(line struct {
		Type string `json:"type"`
	}) bool {
		return line.Type == "user.message"
	})
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return agent.Conversation{}, err
	case !used:
		return agent.Conversation{Found: true, Transcript: file, Reason: "the conversation has no message yet"}, nil
	}
	return agent.Conversation{Found: true, Resumable: true, Transcript: file}, nil
}

// file is the record of a conversation.
func (driver) file(s agent.Spec) string {
	return filepath.Join(agent.Folder(s.Env, "COPILOT_HOME", ".copilot"), "session-state", s.ConversationID, "events.jsonl")
}

// Literal: a leading space makes text of "/". Before "!" it does so in an argument only.
func (c driver) Literal(prompt string) (string, error) {
	if strings.HasPrefix(agent.TrimLeft(prompt), "!") {
		return "", &agent.PromptError{CLI: c.Name(), Reason: `a prompt that begins with "!", typed, would run as a shell command`}
	}
	return prompts.Spaced(prompt), prompts.CheckWord(c.Name(), prompt, words...)
}

// words are the prompts of one word that copilot takes for commands.
var words = append(slices.Clone(prompts.Exits), "help")

// Ready: sessionStart comes only with the first prompt, hence the input box.
func (driver) Ready() agent.Ready {
	return agent.Ready{Box: true, Silent: true, Settle: 500 * time.Millisecond}
}

func (driver) Environment() []string { return []string{"COPILOT_HOME"} }

func (driver) Facts() agent.Facts {
	return agent.Facts{ChoosesID: true, Metered: true, Resume: "exact, by id", Turns: "from hooks", OwnHooks: true, LateHooks: true}
}
