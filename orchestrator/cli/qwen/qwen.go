// Package qwen drives Qwen Code.
package qwen

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
	"paw/orchestrator/cli/internal/streams"
)

// Driver is the driver of qwen.
var Driver cli.Driver = driver{"qwen"}

type driver struct{ cli.Named }

func (driver) NewConversation() string { return uuid.NewString() }

func (q driver) Launch(s cli.Spec) (cli.Command, error) {
	argv, err := prompts.Begin(q.Name(), s, prompts.Exits...)
	if err != nil {
		return cli.Command{}, err
	}
	return q.command(s, argv)
}

func (q driver) Resume(s cli.Spec) (cli.Command, error) {
	return q.command(s, prompts.Resume(s))
}

var settingsFile = hooks.SystemSettings{
	CLI: "qwen", Variable: "QWEN_CODE_SYSTEM_SETTINGS_PATH", Guard: "QWEN_CODE",
	Linux: "/etc/qwen-code/settings.json", Darwin: "/Library/Application Support/QwenCode/settings.json",
	Long: []string{"UserPromptSubmit", "Notification", "Stop", "StopFailure"}, // the hook Notification reports the end of a turn that an Esc stopped
}

func (q driver) command(s cli.Spec, argv []string) (cli.Command, error) {
	if s.Hook == "" {
		return cli.Command{Argv: argv}, nil
	}
	channel := channelOf(s)
	command, err := settingsFile.Launch(s, argv, hookEvents, channel.addTo)
	command.Files = append(command.Files, channel.files()...)
	return command, err
}

// file returns the path of the conversation's chat file for the worktree.
func (driver) file(s cli.Spec) string {
	home := cli.Getenv(s.Env, "QWEN_RUNTIME_DIR")
	if home == "" {
		home = cli.Folder(s.Env, "QWEN_HOME", ".qwen")
	}
	name := strings.Map(func(r rune) rune {
		if cli.Alphanumeric(r) {
			return r
		}
		return '-'
	}, cli.Resolved(s.Worktree))
	return filepath.Join(home, "projects", name, "chats", s.ConversationID+".jsonl")
}

// Conversation finds ID.jsonl in the folder of the worktree; qwen resumes it in no other directory.
func (q driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	return records.Lookup(q.file(s), "qwen has no conversation of this id here", func(line struct {
		Type string `json:"type"`
	}) bool {
		return line.Type == "user"
	})
}

func (q driver) Literal(prompt string) (string, error) {
	return prompts.Spaced(prompt), cmp.Or(prompts.CheckWord(q.Name(), prompt, prompts.Exits...), prompts.CheckCommand(q.Name(), prompt))
}

// Ready waits for the event and the box: qwen draws the box before it asks the terminal for
// bracketed paste, and loses line breaks pasted before that; the event comes later, but also while
// qwen asks for a login. qwen loses an Enter right after a paste, hence Settle.
func (driver) Ready() cli.Ready {
	return cli.Ready{Event: true, Box: true, Silent: true, Settle: 500 * time.Millisecond, Clear: "C-u"}
}

func (driver) Environment() []string { return []string{"QWEN_RUNTIME_DIR", "QWEN_HOME"} }

func (driver) Facts() cli.Facts {
	return cli.Facts{ChoosesID: true, Metered: true, Resume: "exact, by id", Turns: "from hooks"}
}

// Marks includes the variable that a launch sets.
func (driver) Marks() []string { return settingsFile.Marks() }

// Headless asks for a stream of JSON, because qwen's exit code is 0 after an API error.
func (q driver) Headless(s cli.Spec) (cli.Command, error) {
	argv, err := prompts.OneShot(q, s, "stream-json")
	return cli.Command{Argv: argv}, err
}

func (driver) HeadlessLine(line []byte) string { return streams.Show(line, streams.Message.Tell) }

// HeadlessResult recognizes an API error by its text: qwen reports it as a success.
func (q driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message, err := streams.Result(q.Name(), streams.Turn{}, stdout, exitCode, streams.Message.Tell)
	if text, failed := strings.CutPrefix(message, "[API Error: "); failed && err == nil {
		return "", &cli.TurnError{CLI: q.Name(), Message: strings.TrimSuffix(text, "]"), ExitCode: exitCode}
	}
	return message, err
}
