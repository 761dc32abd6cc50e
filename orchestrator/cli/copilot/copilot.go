// Package copilot drives the GitHub Copilot CLI.
package copilot

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/acp"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
	"paw/orchestrator/cli/internal/screens"
)

// Driver is the driver of copilot.
var Driver cli.Driver = driver{cli.Named{Of: "copilot", Known: facts}, acp.OneShot{CLI: "copilot", Speaks: "--acp"}}

type driver struct {
	cli.Named
	acp.OneShot
}

var facts = cli.Facts{
	ChoosesID: true, RunPicks: true, Returns: true, Metered: true, Resume: "exact, by id", Turns: "from hooks", OwnHooks: true, LateHooks: true, SilentErrors: true,
	EscapeAgain: []string{"again to interrupt", "again to edit prompt"}, // the second one before the first word of the answer
	Environment: []string{"COPILOT_HOME"},
	// No event is a sign: copilot reports sessionStart only with the first prompt.
	Ready: cli.Ready{Box: true, Silent: true, Settle: 500 * time.Millisecond, Clear: []string{"C-u", "BSpace"}},
}

func (c driver) Launch(s cli.Spec) (cli.Command, error) {
	command := c.command(s, "--session-id="+s.ConversationID)
	if s.Prompt == "" {
		return command, nil
	}
	argument := "--interactive=" + prompts.Spaced(s.Prompt)
	command.Argv = append(command.Argv, argument)
	return command, cmp.Or(prompts.CheckWord(c.Name(), s.Prompt, words...), prompts.CheckArgument(c.Name(), s.Prompt, argument))
}

func (c driver) Resume(s cli.Spec) (cli.Command, error) {
	return c.command(s, "--resume="+s.ConversationID), nil
}

// Conversation finds the folder of an id. copilot cannot resume a conversation without a message,
// but starts one under the same id.
func (c driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	found, err := records.Lookup(c.file(s), "copilot has no conversation of this id", func(line event) bool { return line.Type == "user.message" })
	if _, missing := os.Stat(filepath.Dir(c.file(s))); err == nil && !found.Found && missing == nil {
		found = cli.Conversation{Found: true, Transcript: c.file(s), Reason: "the conversation has no message yet"}
	}
	found.NewID = false
	return found, err
}

// file returns the path of a conversation's record of events.
func (driver) file(s cli.Spec) string {
	return filepath.Join(cli.Folder(s.Env, "COPILOT_HOME", ".copilot"), "session-state", s.ConversationID, "events.jsonl")
}

// HeldBy returns the copilot that holds a lock beside the record.
func (c driver) HeldBy(s cli.Spec) int {
	return cli.LockedBy(filepath.Join(cli.GlobQuote(filepath.Dir(c.file(s))), "inuse.*.hold"))
}

// Literal puts a space before "/", and behind a last word that opens a menu. It does not help before "!", except in an argument.
func (c driver) Literal(prompt string) (string, error) {
	if strings.HasPrefix(cli.TrimLeft(prompt), "!") {
		return "", &cli.PromptError{CLI: c.Name(), Reason: `a prompt that begins with "!", typed, would run as a shell command`}
	}
	return prompts.Closed(prompts.Spaced(prompt)), prompts.CheckWord(c.Name(), prompt, words...)
}

// words lists the prompts of one word that copilot takes for commands.
var words = append(slices.Clone(prompts.Exits), "help")

// paste matches the tag that copilot puts into a prompt for a paste of more than about 20 kB; the
// text is in a file of the conversation.
var paste = lazyregexp.New(`<pasted_content file="([^"\n]+)" size="[^"\n]*" lines="\d+" />`)

// maxPaste bounds the size of a paste's file that is read; a terminal takes no larger paste.
const maxPaste = 8 << 20

// typed replaces the tags of pastes in a prompt by their texts. Only files of the same conversation
// count: a tag that names any other file is the user's own text.
func typed(conversation, prompt string) string {
	return paste().ReplaceAllStringFunc(prompt, func(tag string) string {
		path := paste().FindStringSubmatch(tag)[1]
		folder := filepath.Dir(path)
		ours := conversation != "" && filepath.IsAbs(path) && filepath.Clean(path) == path && filepath.Base(folder) == "files" &&
			filepath.Base(filepath.Dir(folder)) == conversation && strings.HasPrefix(filepath.Base(path), "paste-")
		if info, err := os.Lstat(path); !ours || err != nil || !info.Mode().IsRegular() || info.Size() > maxPaste {
			return tag
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return tag
		}
		return string(text)
	})
}

// Uses reads the file of events. copilot's "cost" is a number of premium requests, not money, and
// is ignored.
func (c driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	type line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      struct {
			Usage struct {
				Input      int64 `json:"inputTokens"` // tokens, those from a cache included
				Output     int64 `json:"outputTokens"`
				CacheRead  int64 `json:"cacheReadTokens"`
				CacheWrite int64 `json:"cacheWriteTokens"`
			} `json:"usage"`
		} `json:"data"`
	}
	return records.Uses(ctx, c, s, "usage", func(l line) (id string, u cli.Use) {
		if l.Type != "session.usage_record" {
			return "", cli.Use{}
		}
		t := l.Data.Usage
		return "", cli.Use{At: l.Timestamp, Input: max(t.Input-t.CacheRead-t.CacheWrite, 0), CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output}
	})
}

func (driver) Canonical(prompt string) string { return cli.Canonical(prompt) }

// Screen looks for the input box around the terminal's cursor, which copilot hides while its pane
// has no focus. copilot draws the box long before it takes input, and also without an account: both
// are recognized by their texts. In its dialogs the arrow keys select and Enter takes an option. A
// plain "no" is Esc: Enter on that option opens a text input.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	switch text := screens.TextOf(screens.RowsOf(s)); {
	case starts().MatchString(text):
		return cli.Screen{}
	case loggedOut().MatchString(text):
		return cli.Screen{Dialog: "asks you to log in"}
	}
	seen := box.Screen(s)
	if asked := seen.Question; asked != nil {
		asked.ByArrows()
		for i, o := range asked.Options {
			if strings.HasPrefix(o.Label, "No, and tell Copilot") {
				asked.Options[i].Key = "Escape"
			}
		}
	}
	return seen
}

var (
	starts    = lazyregexp.New(`(?m)^ [◉○◎●] Loading:`)
	loggedOut = lazyregexp.New(`(?m)^Please use /login to sign in to use Copilot`)
)

// box describes copilot's input box, which has no placeholder.
var box = screens.EdgedBox{
	Marks: "❯", Selected: "❯",
	Placeholder: lazyregexp.New(`^$`),
	Places:      lazyregexp.New(`\[(Paste|Image) #\d+|^/`), // a slash command is shown completed before the user has typed all of it
	Works:       lazyregexp.New(`(?m)^ [◉○◎●] (Working|Cancelling)\b`),
	Dialogs: []screens.Dialog{
		screens.AsksByList(`^│ +Do you trust the files in this folder\?|^│ +3\. No \(Esc\) +│$`, "asks whether to trust the folder"),
		screens.AsksByList(`^│ Session in use +│$`, "asks whether to resume a conversation that may be in use"),
		screens.AsksInTurn(`^│ │ +([^\n]*?) +│ │\n(?s:.*)^│ Do you want to run this command\?`, "asks for permission: $1"),
		screens.AsksInTurn(`^│ (Do you want to [^?]*\?)`, "$1"),
		screens.AsksInTurn(`^│ +\d\. No, and tell Copilot what to do`, "asks for permission"),
		screens.Asks(`^ *Copilot needs information\.\n *([^\n]+)`, "$1"),
		screens.Asks(`^ *❯ +Search models…`, "asks to choose a model"),
		screens.Asks(`^ +/ search · ↑/↓ navigate · enter open `, "asks which conversation to resume"),
		screens.Asks(`^ *What account do you want to log into\?|github\.com/login/device`, "asks you to log in"),
		screens.Asks(`^│ (.* · )?esc (to dismiss|close) |^[│ ]*↑/↓ .*\besc( to)? (cancel|close)\b|^[│ ]*↑/↓ to navigate .*(\n.*)?enter to select`, "a menu is open"),
	},
}
