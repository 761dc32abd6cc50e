// Package aider is what paw knows of aider.
package aider

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/orchestrator/agent"
)

// Driver is that of aider.
var Driver agent.Driver = driver{"aider"}

// aider has no conversation ids: it appends to one history file in its directory, and can read that again.
type driver struct{ agent.Named }

// history stands for the one conversation of a worktree.
const history = "history"

// NewConversation returns "": there is one conversation per directory.
func (driver) NewConversation() string { return "" }

// Launch refuses a prompt: aider ends after the answer to its --message.
func (a driver) Launch(s agent.Spec) (agent.Command, error) {
	if s.Prompt != "" {
		return agent.Command{}, &agent.PromptError{CLI: a.Name(), Send: true, Reason: "cannot take a first prompt yet"}
	}
	return agent.Command{Argv: append([]string{s.Executable}, s.Args...)}, nil
}

func (a driver) Resume(s agent.Spec) (agent.Command, error) {
	return agent.Command{Argv: append([]string{s.Executable, "--restore-chat-history"}, s.Args...)}, nil
}

// Conversation looks for a prompt in the history file, where each begins with "#### ".
func (a driver) Conversation(ctx context.Context, s agent.Spec) (agent.Conversation, error) {
	path := agent.Getenv(s.Env, "AIDER_CHAT_HISTORY_FILE")
	if path == "" {
		path = ".aider.chat.history.md"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Worktree, path)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return agent.Conversation{Reason: "aider has no history file here"}, nil
	}
	if err != nil {
		return agent.Conversation{}, err
	}
	defer func() { _ = file.Close() }()
	for reader := bufio.NewReader(file); ; {
		line, err := reader.ReadString('\n')
		if strings.HasPrefix(line, "#### ") {
			return agent.Conversation{Found: true, Resumable: true, Transcript: path}, nil
		}
		if errors.Is(err, io.EOF) {
			return agent.Conversation{Found: true, Transcript: path, Reason: "the conversation has no message yet"}, nil
		}
		if err != nil {
			return agent.Conversation{}, err
		}
	}
}

// Learn returns the one conversation of the worktree once it has a prompt.
func (a driver) Learn(ctx context.Context, s agent.Spec) ([]string, error) {
	conversation, err := a.Conversation(ctx, s)
	if err != nil || !conversation.Resumable {
		return nil, err
	}
	return []string{history}, nil
}

func (driver) Environment() []string { return []string{"AIDER_CHAT_HISTORY_FILE"} }

func (driver) Facts() agent.Facts {
	return agent.Facts{Resume: "the history of the worktree", Turns: agent.UnseenTurns, Unseen: true}
}
