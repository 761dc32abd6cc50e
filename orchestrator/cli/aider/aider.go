// Package aider drives aider, which has one conversation per directory and no hooks.
package aider

import (
	"bytes"
	"context"
	"path/filepath"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
)

// Driver is the driver of aider.
var Driver cli.Driver = driver{cli.Named{Of: "aider", Known: cli.Facts{
	Resume: "the history of the worktree", Turns: cli.UnseenTurns, Unseen: true, Environment: []string{"AIDER_CHAT_HISTORY_FILE"},
}}}

// driver needs no conversation ids: aider appends to one history file in its directory, and can
// read that file again.
type driver struct{ cli.Named }

// history is the id of the one conversation of a worktree.
const history = "history"

// Launch refuses a prompt: aider ends after the answer to its --message.
func (a driver) Launch(s cli.Spec) (cli.Command, error) {
	if s.Prompt != "" {
		return cli.Command{}, &cli.PromptError{CLI: a.Name(), Send: true, Reason: "cannot take a first prompt yet"}
	}
	return cli.Command{Argv: append([]string{s.Executable}, s.Args...)}, nil
}

func (a driver) Resume(s cli.Spec) (cli.Command, error) {
	return cli.Command{Argv: append([]string{s.Executable, "--restore-chat-history"}, s.Args...)}, nil
}

// Conversation looks for a prompt in the history file: a line that begins with "#### ".
func (a driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	path := cli.Getenv(s.Env, "AIDER_CHAT_HISTORY_FILE")
	if path == "" {
		path = ".aider.chat.history.md"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Worktree, path)
	}
	prompted := false
	err := records.Lines(path, func(line []byte) bool {
		prompted = bytes.HasPrefix(line, []byte("#### "))
		return !prompted
	})
	found, err := records.Found(path, "aider has no history file here", prompted, err)
	found.NewID = false
	return found, err
}

// Learn returns the id history once the worktree's conversation has a prompt.
func (a driver) Learn(ctx context.Context, s cli.Spec) ([]string, error) {
	conversation, err := a.Conversation(ctx, s)
	if err != nil || !conversation.Resumable {
		return nil, err
	}
	return []string{history}, nil
}
