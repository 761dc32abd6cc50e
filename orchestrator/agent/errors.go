package agent

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// ErrNotInstalled means that a program is not on the PATH that was asked.
var ErrNotInstalled = errors.New("not installed")

// ErrCannotFork means that a CLI cannot start a conversation as a copy of another one.
var ErrCannotFork = errors.New("cannot fork a conversation")

// ErrNoHeadless means that paw knows no mode of a CLI in which it runs one turn without a terminal.
var ErrNoHeadless = errors.New("has no headless mode")

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

// longestID is longer than any id that a CLI uses (36 characters, opencode 30).
const longestID = 128

// checkID refuses an id that could be read as an option, leave its folder or match several files. Ids come from files
// that other programs write.
func checkID(cli, id string) error {
	var reason string
	switch {
	case id == "":
		reason = "no conversation id"
	case len(id) > longestID:
		reason = "longer than an id can be"
	case strings.HasPrefix(id, "-") || strings.HasPrefix(id, "."):
		reason = "begins like an option or a path"
	case strings.ContainsFunc(id, func(r rune) bool {
		return !alphanumeric(r) && !strings.ContainsRune("-_.", r)
	}):
		reason = "has a character no id has"
	default:
		return nil
	}
	return &ConversationError{CLI: cli, ID: id, Reason: reason}
}

// alphanumeric is an ASCII letter or digit.
func alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// checkPrompt refuses what no program can get as one argument of argument bytes.
func checkPrompt(cli, prompt, argument string) error {
	if strings.ContainsRune(prompt, 0) {
		return &PromptError{CLI: cli, Reason: "a prompt cannot have a NUL character"}
	}
	if len(argument) > MaxArgument() {
		return &PromptError{CLI: cli, Send: true,
			Reason: fmt.Sprintf("the prompt has %d bytes, more than the %d of one argument", len(prompt), MaxArgument())}
	}
	return nil
}

// MaxArgument is the number of bytes one argument of a process can have. Linux allows 32 pages with the final NUL
// (MAX_ARG_STRLEN, execve(2)); elsewhere only the sum counts, of which this leaves most to the environment.
func MaxArgument() int {
	if runtime.GOOS == "linux" {
		return 128<<10 - 1
	}
	return 256<<10 - 1
}
