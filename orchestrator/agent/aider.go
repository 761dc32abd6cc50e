package agent

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// aider has no conversation ids: it appends to one history file in its directory, and can read that again.
type aider struct{}

// aiderHistory stands for the one conversation of a worktree.
const aiderHistory = "history"

func (aider) Name() string    { return "aider" }
func (aider) Program() string { return "aider" }

// NewConversation returns "": there is one conversation per directory.
func (aider) NewConversation() string { return "" }

// Launch refuses a prompt: aider ends after the answer to its --message.
func (a aider) Launch(s Spec) (Command, error) {
	if s.Prompt != "" {
		return Command{}, &PromptError{CLI: a.Name(), Send: true, Reason: "cannot take a first prompt yet"}
	}
	return Command{Argv: append([]string{s.Executable}, s.Args...)}, nil
}

func (a aider) Resume(s Spec) (Command, error) {
	if err := checkID(a.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	return Command{Argv: append([]string{s.Executable, "--restore-chat-history"}, s.Args...)}, nil
}

// Conversation looks for a prompt in the history file, where each begins with "#### ".
func (a aider) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	path := getenv(s.Env, "AIDER_CHAT_HISTORY_FILE")
	if path == "" {
		path = ".aider.chat.history.md"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Worktree, path)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Conversation{Reason: "aider has no history file here"}, nil
	}
	if err != nil {
		return Conversation{}, err
	}
	defer func() { _ = file.Close() }()
	for reader := bufio.NewReader(file); ; {
		line, err := reader.ReadString('\n')
		if strings.HasPrefix(line, "#### ") {
			return Conversation{Found: true, Resumable: true, Transcript: path}, nil
		}
		if errors.Is(err, io.EOF) {
			return Conversation{Found: true, Transcript: path, Reason: "the conversation has no message yet"}, nil
		}
		if err != nil {
			return Conversation{}, err
		}
	}
}

// Learn returns the one conversation of the worktree once it has a prompt.
func (a aider) Learn(ctx context.Context, s Spec) ([]string, error) {
	conversation, err := a.Conversation(ctx, s)
	if err != nil || !conversation.Resumable {
		return nil, err
	}
	return []string{aiderHistory}, nil
}

func (aider) Environment() []string { return []string{"AIDER_CHAT_HISTORY_FILE"} }

func (aider) Facts() Facts {
	return Facts{Resume: "the history of the worktree", Fork: "no", Headless: "no", Turns: UnseenTurns, Unseen: true}
}
