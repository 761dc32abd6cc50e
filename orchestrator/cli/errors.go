package cli

import (
	"errors"
	"fmt"
)

// ErrNotInstalled means that a program is not on the PATH that was asked.
var ErrNotInstalled = errors.New("not installed")

// ErrCannotFork means that a CLI cannot start a conversation as a copy of another one.
var ErrCannotFork = errors.New("cannot fork a conversation")

// ErrNoHeadless means that paw knows no mode of a CLI in which it runs one turn without a terminal.
var ErrNoHeadless = errors.New("has no headless mode")

// ErrNoTranscript means that a CLI keeps no record of its conversations that paw can read.
var ErrNoTranscript = errors.New("keeps no record of its conversations that paw can read")

// TurnError means that a headless turn did not succeed.
type TurnError struct {
	CLI      string
	Type     string // the CLI's word for it, "" where it has none
	Message  string
	ExitCode int
}

// Error names the CLI and what it says.
func (e *TurnError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s: ended with exit code %d", e.CLI, e.ExitCode)
	}
	return e.CLI + ": " + e.Message
}

// PromptError means that a prompt cannot be part of a start of this CLI.
type PromptError struct {
	CLI    string
	Reason string
	// Send tells that the prompt can be typed once the CLI is ready.
	Send bool
}

// Error names the CLI and the reason.
func (e *PromptError) Error() string { return e.CLI + ": " + e.Reason }

// ConversationError means that a conversation id cannot be put on a command line, or that the CLI cannot resume at all.
type ConversationError struct {
	CLI    string
	ID     string
	Reason string
}

// Error names the CLI, the id and the reason.
func (e *ConversationError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("%s: %s", e.CLI, e.Reason)
	}
	return fmt.Sprintf("%s: conversation %q: %s", e.CLI, e.ID, e.Reason)
}
