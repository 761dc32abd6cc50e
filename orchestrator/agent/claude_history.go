package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/session/history"
)

// History reads the branch of the transcript that claude would go on with. A rewind leaves the abandoned one in the
// file, and a compaction what it summarized, which is read here as it was said.
func (c claude) History(ctx context.Context, s Spec) (Transcript, error) {
	path, err := transcriptFile(ctx, c, s)
	if err != nil {
		return Transcript{}, err
	}
	t := claudeTalk{talk: talk{Transcript{ID: s.ConversationID}}, answers: map[string]int{}}
	var all []claudeRecord
	skipped, err := countLines(path, func(r claudeRecord) bool {
		switch {
		case r.IsSidechain:
		case r.UUID != "" && slices.Contains(claudeTree, r.Type):
			all = append(all, r)
		case !slices.Contains(claudeAside, r.Type):
			t.strange(r.Type, len(r.Message.Content) > 0)
		}
		return true
	})
	if err != nil {
		return Transcript{}, err
	}
	t.Skipped += skipped
	for _, r := range claudeBranch(all) {
		t.add(r)
	}
	return t.Transcript, nil
}

// claudeTree are the types of lines that follow one another, claudeAside those that are about the conversation.
var (
	claudeTree  = []string{"user", "assistant", "attachment", "system", "progress"}
	claudeAside = []string{
		"summary", "custom-title", "ended-by-model", "ai-title", "last-prompt", "tag", "relocated", "agent-name",
		"agent-color", "agent-setting", "pr-link", "frame-link", "bridge-session", "file-history-snapshot",
		"attribution-snapshot", "speculation-accept", "mode", "permission-mode", "isolation-latch", "worktree-state",
		"queue-operation", "marble-origami-commit", "marble-origami-snapshot", "marble-origami-reset",
		"content-replacement", "fork-context-ref", "api-request", "api-request-blob", "api-request-shape", "atis-latch",
		"cost-state", "file-history-delta", "tools-used",
	}
)

type claudeRecord struct {
	Type              string    `json:"type"`
	UUID              string    `json:"uuid"`
	Parent            string    `json:"parentUuid"`
	LogicalParent     string    `json:"logicalParentUuid"` // of the first line after a compaction
	Timestamp         time.Time `json:"timestamp"`
	IsMeta            bool      `json:"isMeta"`
	IsSidechain       bool      `json:"isSidechain"`
	IsCompactSummary  bool      `json:"isCompactSummary"`
	IsAPIErrorMessage bool      `json:"isApiErrorMessage"`
	Origin            struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Message struct {
		ID      string         `json:"id"`
		Model   string         `json:"model"`
		Content claudeContents `json:"content"`
	} `json:"message"`
	Attachment struct {
		Type   string         `json:"type"`
		Mode   string         `json:"commandMode"`
		Prompt claudeContents `json:"prompt"`
	} `json:"attachment"`
}

// claudeContents is a text or a list of blocks.
type claudeContents []claudeBlock

type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   claudeContents  `json:"content"`
}

// UnmarshalJSON makes one block of a text.
func (c *claudeContents) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = claudeContents{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]claudeBlock)(c))
}

// text joins the texts of blocks; what is no text is named.
func (c claudeContents) text() string {
	var parts []string
	for _, block := range c {
		switch block.Type {
		case "text":
			parts = append(parts, block.Text)
		case "image", "document":
			parts = append(parts, "["+block.Type+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// claudeBranch are the records of the last branch in the order of the conversation; the file has the first answer before
// its prompt.
func claudeBranch(all []claudeRecord) []claudeRecord {
	nodes := make([]branchNode, len(all))
	leaf := -1
	for i, r := range all {
		result := slices.ContainsFunc(r.Message.Content, func(b claudeBlock) bool { return b.Type == "tool_result" })
		nodes[i] = branchNode{id: r.UUID, parent: cmp.Or(r.Parent, r.LogicalParent), prompt: r.Type == "user" && !result}
		if r.Type != "system" && r.Type != "progress" {
			leaf = i
		}
	}
	branch := make([]claudeRecord, 0, len(all))
	for _, i := range lastBranch(nodes, leaf) {
		branch = append(branch, all[i])
	}
	return branch
}

// claudeTalk makes messages of records.
type claudeTalk struct {
	talk
	answers map[string]int // where the message of each answer is
}

func (t *claudeTalk) add(r claudeRecord) {
	switch {
	case r.IsMeta || r.IsCompactSummary:
	case r.Type == "user":
		t.addUser(r)
	case r.Type == "assistant":
		t.addAnswer(r)
	case r.Type == "attachment" && r.Attachment.Type == "queued_command":
		role := history.RoleUser
		if r.Attachment.Mode != "" && r.Attachment.Mode != "prompt" {
			role = history.RoleSystem // such as the end of a background task
		}
		t.say(role, r.Timestamp, claudePasted(r.Attachment.Prompt.text()))
	}
}

// addAnswer adds a part of an answer. Each part is a record of its own, with the id of the answer, and there may be
// results between them.
func (t *claudeTalk) addAnswer(r claudeRecord) {
	text := r.Message.Content.text()
	var calls []history.ToolCall
	for _, block := range r.Message.Content {
		switch block.Type {
		case "text", "thinking", "redacted_thinking":
		case "tool_use":
			calls = append(calls, history.ToolCall{ID: block.ID, Name: block.Name, Arguments: compactJSON(block.Input)})
		default:
			t.Skipped++
		}
	}
	switch {
	case r.IsAPIErrorMessage:
		t.notice(r.Timestamp, text)
		return
	case r.Message.Model == "<synthetic>" && text == "No response requested.":
		return // so claude ends a turn that a crash cut
	case text == "" && len(calls) == 0:
		return
	}
	at, known := t.answers[r.Message.ID]
	if !known {
		at = len(t.Messages)
		t.answers[r.Message.ID] = at
		t.Messages = append(t.Messages, history.Message{Role: history.RoleAssistant, Timestamp: r.Timestamp})
	}
	answer := &t.Messages[at]
	if answer.Content != "" && text != "" {
		text = "\n" + text
	}
	answer.Content += text
	answer.ToolCalls = append(answer.ToolCalls, calls...)
}

var (
	claudeSlash = lazyregexp.New(`(?s)<command-name>(.*?)</command-name>(?:.*<command-args>(.*?)</command-args>)?`)
	claudeShell = lazyregexp.New(`</?bash-(?:input|stdout|stderr)>`)
)

// addUser adds results, or what is in the user's name: besides prompts that is also what claude says of itself.
func (t *claudeTalk) addUser(r claudeRecord) {
	for _, block := range r.Message.Content {
		switch block.Type {
		case "text", "image", "document":
		case "tool_result":
			t.result(r.Timestamp, block.ToolUseID, block.Content.text())
		default:
			t.Skipped++
		}
	}
	text := claudePasted(r.Message.Content.text())
	switch {
	case strings.HasPrefix(text, claudeInterrupted):
		t.notice(r.Timestamp, stoppedByUser)
	case r.Origin.Kind == "task-notification":
		t.say(history.RoleSystem, r.Timestamp, text)
	case strings.HasPrefix(text, "<command-name>"), strings.HasPrefix(text, "<local-command-"):
		// a command that the model does not hear of
	case strings.HasPrefix(text, "<command-message>"):
		if words := claudeSlash.FindStringSubmatch(text); words != nil {
			text = strings.TrimSpace(words[1] + " " + words[2])
		}
		t.say(history.RoleUser, r.Timestamp, text)
	case strings.HasPrefix(text, "<bash-input>"):
		t.say(history.RoleUser, r.Timestamp, "!"+claudeShell.ReplaceAllString(text, ""))
	case strings.HasPrefix(text, "<bash-stdout>"):
		t.say(history.RoleSystem, r.Timestamp, claudeShell.ReplaceAllString(text, ""))
	default:
		t.say(history.RoleUser, r.Timestamp, text)
	}
}
