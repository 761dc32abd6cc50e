// Package gemini drives the Gemini CLI.
package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/acp"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
	"paw/orchestrator/cli/internal/screens"
)

// Driver is the driver of gemini.
var Driver cli.Driver = driver{cli.Named{Of: "gemini", Known: facts}, acp.OneShot{CLI: "gemini"}}

type driver struct {
	cli.Named
	acp.OneShot
}

var facts = cli.Facts{
	ChoosesID: true, RunPicks: true, Metered: true, AsksUnheard: true, Resume: "by id; a gemini started by hand in the worktree can delete the conversation",
	Turns:       "from hooks, where gemini takes paw's settings (new versions take them from root only)",
	Environment: []string{"GEMINI_CLI_HOME"},
	Marks:       settingsFile.Marks(),
	// As with qwen. For users other than root gemini takes no hooks (see keepConversations), so that no event comes. A
	// gemini that resumes a conversation first shows an empty box that loses what is typed, for half a second.
	Ready: cli.Ready{Event: os.Geteuid() == 0, Box: true, Silent: true, Steady: time.Second, Settle: 500 * time.Millisecond},
}

func (g driver) Launch(s cli.Spec) (cli.Command, error) {
	argv, err := prompts.Begin(g.Name(), s)
	if err != nil {
		return cli.Command{}, err
	}
	return g.command(s, argv)
}

func (g driver) Resume(s cli.Spec) (cli.Command, error) {
	return g.command(s, prompts.Resume(s))
}

var settingsFile = hooks.SystemSettings{
	CLI: "gemini", Variable: "GEMINI_CLI_SYSTEM_SETTINGS_PATH", Guard: "GEMINI_CLI",
	Linux: "/etc/gemini-cli/settings.json", Darwin: "/Library/Application Support/GeminiCli/settings.json",
	Long: []string{"BeforeAgent", "AfterAgent"},
}

func (g driver) command(s cli.Spec, argv []string) (cli.Command, error) {
	return settingsFile.Launch(s, argv, hookEvents, keepConversations)
}

// keepConversations switches off gemini's deletion of old conversations. A resumed conversation
// leaves a second file that gemini takes for a broken one; the next start in the project would then
// delete the conversation itself (google-gemini/gemini-cli#27368, #28767). Since
// google-gemini/gemini-cli#29115 gemini takes system settings only from root: other users get a
// warning from it, and neither this setting nor the hooks.
func keepConversations(settings map[string]json.RawMessage) error {
	general, err := hooks.Object(settings["general"])
	if err != nil {
		return fmt.Errorf("general: %w", err)
	}
	general["sessionRetention"] = json.RawMessage(`{"enabled":false}`)
	settings["general"] = hooks.JSON(general)
	return nil
}

// chats returns a pattern of the files of a conversation without their ending:
// session-*-<first 8 characters of the id>, in the folders of all projects.
func chats(s cli.Spec) string {
	tmp := filepath.Join(cli.Folder(s.Env, "GEMINI_CLI_HOME"), ".gemini", "tmp")
	return filepath.Join(cli.GlobQuote(tmp), "*", "chats", "session-*-"+s.ConversationID[:min(8, len(s.ConversationID))])
}

// Conversation finds the chat file in the worktree's project. Every resume leaves one more, almost
// empty, file of that name; the conversation can be resumed if gemini would open any of them.
func (g driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	files, err := filepath.Glob(chats(s) + ".jsonl")
	if err != nil {
		return cli.Conversation{}, err
	}
	found := cli.Conversation{Reason: "gemini has no conversation of this id"}
	for _, file := range files {
		if ctx.Err() != nil {
			return cli.Conversation{}, ctx.Err()
		}
		chat, err := readChat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return cli.Conversation{}, err
		}
		root, _ := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(file)), ".project_root"))
		switch project := strings.TrimSpace(string(root)); {
		case chat.id != s.ConversationID:
		case !chat.resumable:
			if found.Transcript == "" {
				found = cli.Conversation{Found: true, Transcript: file, NewID: true, Reason: chat.emptiness()}
			}
		case project != "" && cli.Resolved(project) != cli.Resolved(s.Worktree):
			found = cli.Conversation{Found: true, Transcript: file, NewID: true, Reason: "it belongs to " + project}
		default:
			return cli.Conversation{Found: true, Resumable: true, Transcript: file}, nil
		}
	}
	return found, nil
}

func (g driver) Literal(prompt string) (string, error) {
	return prompts.Closed(prompts.Spaced(prompt)), prompts.CheckCommand(g.Name(), prompt)
}

// isPrompt tells a prompt from context and tool results, which gemini also records as the user's.
func (r record) isPrompt() bool {
	return r.Type == "user" && slices.ContainsFunc(r.Content, func(p records.ModelPart) bool { return isText(p.Text) })
}

func isText(text string) bool {
	return text != "" && !strings.HasPrefix(text, "<session_context>")
}

// chatHead decides whether gemini opens a chat file again.
type chatHead struct {
	id        string
	resumable bool // has a message with which gemini goes on
	prompted  bool // has had a prompt, which may have been taken back
}

// emptiness says why gemini does not open a chat.
func (c chatHead) emptiness() string {
	if c.prompted {
		return "gemini has taken all that was said back out of the conversation, as it does at an Esc in the first turn"
	}
	return "the conversation has no message yet"
}

// readChat reads a chat file as gemini does before it opens the conversation, from the end: a list
// of messages replaces those before it, and a rewind takes messages back, from the named one on.
func readChat(file string) (chatHead, error) {
	var chat chatHead
	if err := records.EachLine(file, func(r record) bool {
		if chat.id = r.SessionID; r.Set != nil {
			chat.id = cmp.Or(r.Set.SessionID, chat.id)
		}
		return chat.id == ""
	}); err != nil {
		return chat, err
	}
	replaced, until := false, "" // whether a later list of messages was read; id of the message back to which messages are taken back
	counts := func(m record) bool {
		left, resumes := !replaced && until == "", m.resumes()
		chat.prompted = chat.prompted || resumes
		if m.ID == until {
			until = ""
		}
		return left && resumes
	}
	err := records.EachBack(file, func(r record) bool {
		switch {
		case r.RewindTo != "":
			until = cmp.Or(until, r.RewindTo)
		case r.Set != nil && r.Set.Messages != nil:
			for _, m := range slices.Backward(*r.Set.Messages) {
				chat.resumable = counts(m) || chat.resumable
			}
			replaced = true
		default:
			chat.resumable = counts(r)
		}
		return !chat.resumable
	})
	return chat, err
}

// resumes reports whether gemini goes on with a message: text or tools of the model, or a text of
// the user that is neither a command nor context added by gemini. Results of tools come with the
// tools.
func (r record) resumes() bool {
	text := strings.TrimSpace(r.text())
	switch r.Type {
	case "gemini":
		return text != "" || len(r.ToolCalls) > 0 || len(r.Thoughts) > 0
	case "user":
		aside := func(begin string) bool { return strings.HasPrefix(text, begin) }
		return text != "" && !slices.ContainsFunc([]string{"/", "?", "<session_context>", "<hook_context>"}, aside)
	}
	return false
}

// text joins the texts of all parts of a message, also of the model's thoughts.
func (r record) text() string {
	var text strings.Builder
	for _, part := range r.Content {
		text.WriteString(part.Text)
	}
	return text.String()
}

func (driver) Canonical(prompt string) string { return cli.Canonical(prompt) }

// Screen looks for the input box around the terminal's cursor, which gemini hides and draws itself.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	seen := box.Screen(since(s))
	seen.Limited = strings.HasPrefix(seen.Dialog, limitReached)
	if seen.Dialog == trusts && seen.Question != nil {
		if seen.Question.Deaf = trustSettle; starts(s) {
			seen.Question = nil
		}
	}
	return seen
}

// limitReached begins paw's words for the dialog of a usage limit.
const limitReached = "has reached the usage limit"

// trusts is paw's words for the question whether to trust the folder.
const trusts = "asks whether to trust the folder"

// trustSettle is how long gemini may still be starting when its head is drawn.
const trustSettle = time.Second

// starts reports whether a dialog stands where gemini draws its head when it has started. A gemini
// 0.61.0 that is told before to trust the folder may close the dialog, and go on without its hooks.
func starts(s cli.Screenshot) bool {
	return s.CursorY < s.Height-1 && strings.HasPrefix(strings.TrimSpace(screens.TextOf(screens.RowsOf(s))), "╭")
}

// restarts is the last line of a gemini that has been told to trust the folder. Its dialog stays
// above, and the next gemini draws below.
const restarts = "Gemini CLI is restarting to apply the trust changes"

// since returns a screenshot with empty lines in place of what was drawn before a restart.
func since(s cli.Screenshot) cli.Screenshot {
	if end := strings.LastIndex(s.Text, restarts); end >= 0 {
		s.Text = strings.Repeat("\n", strings.Count(s.Text[:end], "\n")) + s.Text[end+len(restarts):]
	}
	return s
}

// box describes gemini's input box, whose edges are lines where there are no colours, and its
// dialogs, which are in frames.
var box = screens.EdgedBox{
	Upper: "▄─", Lower: "▀─", Marks: ">*", Mark: 1, Selected: "●",
	Placeholder: lazyregexp.New(`^  ?(Type your message or @path/to/file|Press 'Esc' for NORMAL mode\.|Press 'i' for INSERT mode\.)$`),
	Places:      lazyregexp.New(`\[(Pasted Text|Image)\b`),
	Works:       lazyregexp.New(`(?m)^ *\S .*\(esc to cancel, `),
	Dialogs: []screens.Dialog{
		screens.AsksByList(`^ ?│ +Do you trust the files in this folder\?|^ ?│ +\d\. Don't trust `, trusts),
		screens.Asks(`^│ +How would you like to authenticate|^│ +Terms of Services and Privacy Notice|^│ +Enter Gemini API Key`, "asks you to log in"),
		screens.AsksInTurn(`^│ \? Shell +([^\n]*?) *│$(?s:.*)^│ Allow execution of`, "asks for permission: $1"),
		screens.AsksInTurn(`^│ Answer Questions *│\n│ *│\n│ ([^\n]*?) *│$`, "$1"),
		screens.AsksByList(`^│ Usage limit reached for ([^\n]*?)\. *│$`, limitReached+" for $1: asks whether to go on"),
		screens.Asks(`^│ +Select Model`, "asks to choose a model"),
		screens.Asks(`^ *No auto-saved conversations found|^ *Chat Sessions`, "asks which conversation to resume"),
		screens.Asks(`(?i)\(.*\b(Enter to select|Esc to close)\b`, "a menu is open"),
	},
}

// Headless has gemini speak ACP, without paw's hooks.
func (g driver) Headless(s cli.Spec) (cli.Command, error) {
	s.Hook = ""
	agent, err := g.command(s, append([]string{s.Executable, "--acp"}, s.Args...))
	if err != nil {
		return cli.Command{}, err
	}
	return g.Command(s, agent)
}
