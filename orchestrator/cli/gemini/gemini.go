// Package gemini drives the Gemini CLI.
package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/prompts"
)

// Driver is the driver of gemini.
var Driver cli.Driver = driver{"gemini"}

type driver struct{ cli.Named }

func (driver) NewConversation() string { return uuid.NewString() }

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
	general := map[string]json.RawMessage{}
	if raw, ok := settings["general"]; ok {
		if err := json.Unmarshal(raw, &general); err != nil {
			return fmt.Errorf("general: %w", err)
		}
	}
	if general == nil {
		return errors.New("general: null is no object")
	}
	general["sessionRetention"] = json.RawMessage(`{"enabled":false}`)
	settings["general"] = hooks.JSON(general)
	return nil
}

// Conversation finds session-*-<first 8 characters of the id>.jsonl of the worktree's project.
// Every resume leaves one more, almost empty, file of that name; the conversation can be resumed if
// gemini would open any of them.
func (g driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	short := s.ConversationID[:min(8, len(s.ConversationID))]
	tmp := filepath.Join(cli.Folder(s.Env, "GEMINI_CLI_HOME"), ".gemini", "tmp")
	files, err := filepath.Glob(filepath.Join(cli.GlobQuote(tmp), "*", "chats", "session-*-"+short+".jsonl"))
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
	return prompts.Spaced(prompt), prompts.CheckCommand(g.Name(), prompt)
}

// Ready is like qwen's. For users other than root gemini takes no hooks (see keepConversations), so
// that no event comes. A gemini that resumes a conversation first shows an empty box that loses
// what is typed, for half a second.
func (driver) Ready() cli.Ready {
	return cli.Ready{Event: os.Geteuid() == 0, Box: true, Silent: true, Steady: time.Second, Settle: 500 * time.Millisecond}
}

func (driver) Environment() []string { return []string{"GEMINI_CLI_HOME"} }

func (driver) Facts() cli.Facts {
	return cli.Facts{
		ChoosesID: true, Metered: true, AsksUnheard: true, Resume: "by id; a gemini started by hand in the worktree can delete the conversation",
		Turns: "from hooks, where gemini takes paw's settings (new versions take them from root only)",
	}
}

type chatMessage struct {
	ID        string            `json:"id"`
	Type      string            `json:"type"`
	Content   any               `json:"content"` // a text, or a list of parts with a text or a functionResponse
	ToolCalls []json.RawMessage `json:"toolCalls"`
	Thoughts  []json.RawMessage `json:"thoughts"`
}

// isPrompt tells a prompt from context and tool results, which gemini also records as the user's.
func (m chatMessage) isPrompt() bool {
	if m.Type != "user" {
		return false
	}
	if text, ok := m.Content.(string); ok {
		return isText(text)
	}
	parts, _ := m.Content.([]any)
	for _, part := range parts {
		fields, _ := part.(map[string]any)
		if text, ok := fields["text"].(string); ok && isText(text) {
			return true
		}
	}
	return false
}

func isText(text string) bool {
	return text != "" && !strings.HasPrefix(text, "<session_context>")
}

// Marks includes the variable that a launch sets.
func (driver) Marks() []string { return settingsFile.Marks() }
