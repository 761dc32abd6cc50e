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

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
)

// Driver is that of copilot.
var Driver cli.Driver = driver{"copilot"}

type driver struct{ cli.Named }

func (driver) NewConversation() string { return uuid.NewString() }

func (c driver) Launch(s cli.Spec) (cli.Command, error) {
	command := c.hooks(s)
	argv := slices.Concat([]string{s.Executable, "--session-id=" + s.ConversationID}, command.Argv, s.Args)
	if s.Prompt != "" {
		if err := prompts.CheckWord(c.Name(), s.Prompt, words...); err != nil {
			return cli.Command{}, err
		}
		argument := "--interactive=" + prompts.Spaced(s.Prompt)
		if err := prompts.CheckArgument(c.Name(), s.Prompt, argument); err != nil {
			return cli.Command{}, err
		}
		argv = append(argv, argument)
	}
	command.Argv = argv
	return command, nil
}

func (c driver) Resume(s cli.Spec) (cli.Command, error) {
	command := c.hooks(s)
	command.Argv = slices.Concat([]string{s.Executable, "--resume=" + s.ConversationID}, command.Argv, s.Args)
	return command, nil
}

// Conversation finds the folder of an id. Without a message copilot cannot resume it, but starts it again.
func (c driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	file := c.file(s)
	if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) {
		return cli.Conversation{Reason: "copilot has no conversation of this id"}, nil
	}
	used, err := records.Holds(file, func(line struct {
		Type string `json:"type"`
	}) bool {
		return line.Type == "user.message"
	})
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return cli.Conversation{}, err
	case !used:
		return cli.Conversation{Found: true, Transcript: file, Reason: "the conversation has no message yet"}, nil
	}
	return cli.Conversation{Found: true, Resumable: true, Transcript: file}, nil
}

// file is the record of a conversation.
func (driver) file(s cli.Spec) string {
	return filepath.Join(cli.Folder(s.Env, "COPILOT_HOME", ".copilot"), "session-state", s.ConversationID, "events.jsonl")
}

// Literal: a leading space makes text of "/". Before "!" it does so in an argument only.
func (c driver) Literal(prompt string) (string, error) {
	if strings.HasPrefix(cli.TrimLeft(prompt), "!") {
		return "", &cli.PromptError{CLI: c.Name(), Reason: `a prompt that begins with "!", typed, would run as a shell command`}
	}
	return prompts.Spaced(prompt), prompts.CheckWord(c.Name(), prompt, words...)
}

// words are the prompts of one word that copilot takes for commands.
var words = append(slices.Clone(prompts.Exits), "help")

// Ready: sessionStart comes only with the first prompt, hence the input box.
func (driver) Ready() cli.Ready {
	return cli.Ready{Box: true, Silent: true, Settle: 500 * time.Millisecond}
}

func (driver) Environment() []string { return []string{"COPILOT_HOME"} }

func (driver) Facts() cli.Facts {
	return cli.Facts{ChoosesID: true, Metered: true, Resume: "exact, by id", Turns: "from hooks", OwnHooks: true, LateHooks: true}
}
