// Package qwen drives Qwen Code.
package qwen

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/acp"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
	"paw/orchestrator/cli/internal/screens"
)

// Driver is the driver of qwen.
var Driver cli.Driver = driver{cli.Named{Of: "qwen", Known: facts}, acp.OneShot{CLI: "qwen", Speaks: "--acp"}}

type driver struct {
	cli.Named
	acp.OneShot
}

var facts = cli.Facts{
	ChoosesID: true, RunPicks: true, Returns: true, Metered: true, Resume: "exact, by id", Turns: "from hooks", Leaves: []string{".qwen/.gitignore"},
	Environment: []string{"QWEN_RUNTIME_DIR", "QWEN_HOME"},
	Marks:       []string{guard, settingsVariable, defaultsVariable},
	// The event and the box: qwen draws the box before it asks the terminal for bracketed paste, and loses line breaks pasted
	// before that; the event comes later, but also while qwen asks for a login. qwen loses an Enter right after a paste,
	// hence Settle.
	Ready: cli.Ready{Event: true, Box: true, Silent: true, Settle: 500 * time.Millisecond, Clear: []string{"C-u"}},
}

func (q driver) Launch(s cli.Spec) (cli.Command, error) {
	argv := append([]string{s.Executable, "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt != "" {
		argument := "--prompt-interactive=" + s.Prompt
		if err := cmp.Or(prompts.CheckWord(q.Name(), s.Prompt, prompts.Exits...), prompts.CheckCommand(q.Name(), s.Prompt),
			prompts.CheckArgument(q.Name(), s.Prompt, argument)); err != nil {
			return cli.Command{}, err
		}
		argv = append(argv, argument)
	}
	return q.command(s, argv)
}

func (q driver) Resume(s cli.Spec) (cli.Command, error) {
	return q.command(s, append([]string{s.Executable, "--resume", s.ConversationID}, s.Args...))
}

// file returns the path of the conversation's chat file for the worktree.
func (driver) file(s cli.Spec) string {
	home := cmp.Or(cli.Getenv(s.Env, "QWEN_RUNTIME_DIR"), cli.Folder(s.Env, "QWEN_HOME", ".qwen"))
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

// Uses reads the whole chat file, including what a rewind has taken back.
func (q driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	type line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Usage     struct {
			Input  int64 `json:"promptTokenCount"` // tokens, those from a cache included
			Cached int64 `json:"cachedContentTokenCount"`
			Total  int64 `json:"totalTokenCount"`
		} `json:"usageMetadata"`
	}
	return records.Uses(ctx, q, s, "usageMetadata", func(l line) (id string, u cli.Use) {
		if l.Type != "assistant" {
			return "", cli.Use{}
		}
		t := l.Usage
		return "", cli.Use{At: l.Timestamp, Input: max(t.Input-t.Cached, 0), CacheRead: t.Cached, Output: max(t.Total-t.Input, 0)}
	})
}

// Screen looks for the input box around the terminal's cursor.
func (driver) Screen(s cli.Screenshot) cli.Screen { return box.Screen(s) }

// box describes qwen's input box, and its dialogs, in which a digit takes an option at once.
var box = screens.EdgedBox{
	Marks: ">*", Selected: "›❯",
	Weak:        "(shift + tab to cycle)",
	Placeholder: lazyregexp.New(`^  ?(Type your message or @path/to/file|Press 'i' for INSERT mode and 'Esc' for NORMAL mode\.)$`),
	Places:      lazyregexp.New(`\[(Pasted Content|Pasted Text|Image)\b`),
	Works:       lazyregexp.New(`(?m)^ *\S+ .*\(\d.*esc to cancel\)`),
	Dialogs: []screens.Dialog{
		screens.AsksInTurn(`^ +(?:│ )?\? +Shell ([^\n]*?) ←(?s:.*)^ +(?:│ )?Allow execution of`, "asks for permission: $1"),
		screens.AsksInTurn(`^ +(?:│ )?Allow execution of: '([^']*)'\?`, "asks for permission: $1"),
		screens.AsksInTurn(`^ +\? AskUserQuestion [^\n]*\n\s*\n +[^\n]+\n\s*\n +([^\n]+)\n`, "$1"),
		screens.Asks(`^ +│ > Approval Mode`, "a menu is open"),
		screens.Asks(`^ +│ +Terms of Services and Privacy Notice|^ *How would you like to authenticate`, "asks you to log in"),
		screens.Asks(`^ +│ Select Model`, "asks to choose a model"),
		screens.Asks(`Ctrl\+B to toggle branch · .* · Esc to cancel`, "asks which conversation to resume"),
		screens.Asks(`^ +│ .*\b(Enter to select|Esc to (close|cancel))\b`, "a menu is open"),
	},
}
