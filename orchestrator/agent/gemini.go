package agent

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
)

type gemini struct{}

func (gemini) Name() string    { return "gemini" }
func (gemini) Program() string { return "gemini" }

func (gemini) NewConversation() string { return uuid.NewString() }

func (g gemini) Launch(s Spec) (Command, error) {
	if err := checkID(g.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt != "" {
		argument, err := interactivePrompt(g.Name(), s.Prompt)
		if err != nil {
			return Command{}, err
		}
		argv = append(argv, argument)
	}
	return g.command(s, argv)
}

func (g gemini) Resume(s Spec) (Command, error) {
	if err := checkID(g.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	return g.command(s, append([]string{s.Executable, "--resume", s.ConversationID}, s.Args...))
}

var geminiSettings = systemSettings{
	cli: "gemini", variable: "GEMINI_CLI_SYSTEM_SETTINGS_PATH", guard: "GEMINI_CLI",
	linux: "/etc/gemini-cli/settings.json", darwin: "/Library/Application Support/GeminiCli/settings.json",
}

func (g gemini) command(s Spec, argv []string) (Command, error) {
	return geminiSettings.launch(s, argv, geminiHooks, keepConversations)
}

// keepConversations turns the clean-up of old conversations off. A resumed conversation leaves a second file that gemini
// takes for a broken one; the next start in the project would then delete the conversation itself
// (google-gemini/gemini-cli#27368, #28767). Since google-gemini/gemini-cli#29115 gemini takes system settings from root
// alone: anybody else gets a warning from it, and neither this nor the hooks.
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
	var err error
	settings["general"], err = encodeJSON(general)
	return err
}

// Conversation finds session-*-<first 8 characters of the id>.jsonl of the worktree's project. Every resume leaves one
// more file of that name, with little in it; any one of them that has a prompt makes the conversation resumable.
func (g gemini) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(g.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	short := s.ConversationID[:min(8, len(s.ConversationID))]
	tmp := filepath.Join(folder(s.Env, "GEMINI_CLI_HOME"), ".gemini", "tmp")
	files, err := filepath.Glob(filepath.Join(globQuote(tmp), "*", "chats", "session-*-"+short+".jsonl"))
	if err != nil {
		return Conversation{}, err
	}
	found := Conversation{Reason: "gemini has no conversation of this id"}
	for _, file := range files {
		if ctx.Err() != nil {
			return Conversation{}, ctx.Err()
		}
		chat, err := readGeminiChat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Conversation{}, err
		}
		root, _ := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(file)), ".project_root"))
		switch project := strings.TrimSpace(string(root)); {
		case chat.id != s.ConversationID:
		case !chat.used:
			if found.Transcript == "" {
				found = Conversation{Found: true, Transcript: file, NewID: true, Reason: "the conversation has no message yet"}
			}
		case project != "" && resolved(project) != resolved(s.Worktree):
			found = Conversation{Found: true, Transcript: file, NewID: true, Reason: "it belongs to " + project}
		default:
			return Conversation{Found: true, Resumable: true, Transcript: file}, nil
		}
	}
	return found, nil
}

func (g gemini) Literal(prompt string) (string, error) {
	return spaced(prompt), checkCommand(g.Name(), prompt)
}

// Ready: see qwen's. An ordinary user's gemini takes no hooks (see keepConversations), so no event comes. One that takes up
// a conversation shows an empty box, which loses what is typed, for half a second before that.
func (gemini) Ready() Ready {
	return Ready{Event: os.Geteuid() == 0, Box: true, Silent: true, Steady: time.Second, Settle: 500 * time.Millisecond}
}

func (gemini) Environment() []string { return []string{"GEMINI_CLI_HOME"} }

func (gemini) Facts() Facts {
	return Facts{
		ChoosesID: true, Resume: "by id; a gemini started by hand in the worktree can delete the conversation",
		Fork: "no", Headless: "gemini -p", Turns: "from hooks, where gemini takes paw's settings (new versions take them from root only)",
	}
}

type geminiChat struct {
	id   string
	used bool
}

type geminiMessage struct {
	Type    string `json:"type"`
	Content any    `json:"content"` // a text, or parts with a text or a functionResponse
}

func readGeminiChat(file string) (geminiChat, error) {
	var chat geminiChat
	err := eachLine(file, func(line struct {
		geminiMessage
		SessionID string `json:"sessionId"`
		Set       struct {
			SessionID string          `json:"sessionId"`
			Messages  []geminiMessage `json:"messages"`
		} `json:"$set"`
	}) bool {
		for _, id := range []string{line.SessionID, line.Set.SessionID} {
			if id != "" {
				chat.id = id
			}
		}
		for _, message := range append(line.Set.Messages, line.geminiMessage) {
			chat.used = chat.used || message.isPrompt()
		}
		return !chat.used || chat.id == ""
	})
	return chat, err
}

// isPrompt tells a prompt from the context and the tool results that gemini writes as the user's, too.
func (m geminiMessage) isPrompt() bool {
	if m.Type != "user" {
		return false
	}
	if text, ok := m.Content.(string); ok {
		return isGeminiText(text)
	}
	parts, _ := m.Content.([]any)
	for _, part := range parts {
		fields, _ := part.(map[string]any)
		if text, ok := fields["text"].(string); ok && isGeminiText(text) {
			return true
		}
	}
	return false
}

func isGeminiText(text string) bool {
	return text != "" && !strings.HasPrefix(text, "<session_context>")
}

// Marks has what a launch sets, too.
func (gemini) Marks() []string { return geminiSettings.marks() }
