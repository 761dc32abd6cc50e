package claude

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
	"paw/session/turn"
)

// History reads the branch of the transcript that claude would go on with. After a rewind the file
// still has the abandoned branch. A conversation that was compacted is read in full, without the
// summary.
func (c driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	begun, all, err := records.ReadTalk[record](ctx, c, s)
	t := talk{Talk: begun, answers: map[string]int{}}
	all = slices.DeleteFunc(all, func(r record) bool {
		switch {
		case r.IsSidechain:
		case r.UUID != "" && slices.Contains(tree, r.Type):
			return false
		case !slices.Contains(aside, r.Type):
			t.Strange(r.Type, len(r.Message.Content) > 0)
		}
		return true
	})
	for _, r := range lastBranchOf(all) {
		t.add(r)
	}
	return t.Transcript, err
}

// tree lists the types of lines that form the conversation's tree, aside those that are about the
// conversation.
var (
	tree  = []string{"user", "assistant", "attachment", "system", "progress"}
	aside = []string{
		"summary", "custom-title", "ended-by-model", "ai-title", "last-prompt", "tag", "relocated", "agent-name",
		"agent-color", "agent-setting", "pr-link", "frame-link", "bridge-session", "file-history-snapshot",
		"attribution-snapshot", "speculation-accept", "mode", "permission-mode", "isolation-latch", "worktree-state",
		"queue-operation", "marble-origami-commit", "marble-origami-snapshot", "marble-origami-reset",
		"content-replacement", "fork-context-ref", "api-request", "api-request-blob", "api-request-shape", "atis-latch",
		"cost-state", "file-history-delta", "tools-used",
	}
)

type record struct {
	Type              string    `json:"type"`
	UUID              string    `json:"uuid"`
	Parent            string    `json:"parentUuid"`
	LogicalParent     string    `json:"logicalParentUuid"` // set in the first line after a compaction
	Timestamp         time.Time `json:"timestamp"`
	IsMeta            bool      `json:"isMeta"`
	IsSidechain       bool      `json:"isSidechain"`
	IsCompactSummary  bool      `json:"isCompactSummary"`
	IsAPIErrorMessage bool      `json:"isApiErrorMessage"`
	Origin            struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Message struct {
		ID      string        `json:"id"`
		Model   string        `json:"model"`
		Content records.Parts `json:"content"`
	} `json:"message"`
	Attachment struct {
		Type   string        `json:"type"`
		Mode   string        `json:"commandMode"`
		Prompt records.Parts `json:"prompt"`
	} `json:"attachment"`
}

// lastBranchOf returns the records of the last branch in the order of the conversation. In the file
// the first answer can come before its prompt.
func lastBranchOf(all []record) []record {
	leaf := len(all) - 1
	for leaf >= 0 && (all[leaf].Type == "system" || all[leaf].Type == "progress") {
		leaf--
	}
	return records.LastBranch(all, leaf, func(r record) records.BranchNode {
		result := slices.ContainsFunc(r.Message.Content, func(b records.Part) bool { return b.Type == "tool_result" })
		return records.BranchNode{ID: r.UUID, Parent: cmp.Or(r.Parent, r.LogicalParent), Prompt: r.Type == "user" && !result}
	})
}

// talk turns records into messages.
type talk struct {
	records.Talk
	answers map[string]int // index of the message of each answer, by the answer's id
}

func (t *talk) add(r record) {
	switch {
	case r.Type == "user" && message().MatchString(r.Message.Content.Words()):
		t.Say(history.RoleSystem, r.Timestamp, turn.Prompt(r.Message.Content.Words()).Words())
	case r.IsMeta || r.IsCompactSummary:
	case r.Type == "user":
		t.addUser(r)
	case r.Type == "assistant":
		t.addAnswer(r)
	case r.Type == "attachment" && r.Attachment.Type == "queued_command":
		role, text := history.RoleUser, pasted(r.Attachment.Prompt.Words())
		switch {
		case message().MatchString(text):
			role, text = history.RoleSystem, turn.Prompt(text).Words()
		case r.Attachment.Mode != "" && r.Attachment.Mode != "prompt":
			role = history.RoleSystem // such as the end of a background task
		}
		t.Say(role, r.Timestamp, text)
	}
}

// addAnswer adds one part of an answer. The parts are records of their own that share the answer's
// id; results may come between them.
func (t *talk) addAnswer(r record) {
	text := r.Message.Content.Words()
	var calls []history.ToolCall
	for _, block := range r.Message.Content {
		switch block.Type {
		case "text", "thinking", "redacted_thinking":
		case "tool_use":
			calls = append(calls, history.ToolCall{ID: block.ID, Name: block.Name, Arguments: records.CompactJSON(block.Input)})
		default:
			t.Skipped++
		}
	}
	switch {
	case r.IsAPIErrorMessage:
		t.Notice(r.Timestamp, text)
		return
	case r.Message.Model == "<synthetic>" && text == "No response requested.":
		return // claude writes this line after a turn that a crash cut
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
	slash = lazyregexp.New(`(?s)<command-name>(.*?)</command-name>(?:.*<command-args>(.*?)</command-args>)?`)
	shell = lazyregexp.New(`</?bash-(?:input|stdout|stderr)>`)
)

// addUser adds a record in the user's name: results of tools, a prompt, or a notice of claude
// itself.
func (t *talk) addUser(r record) {
	for _, block := range r.Message.Content {
		switch block.Type {
		case "text", "image", "document":
		case "tool_result":
			t.Result(r.Timestamp, block.ToolUseID, block.Content.Words())
		default:
			t.Skipped++
		}
	}
	text := pasted(r.Message.Content.Words())
	switch {
	case strings.HasPrefix(text, interrupted):
		t.Notice(r.Timestamp, records.StoppedByUser)
	case r.Origin.Kind == "task-notification":
		t.Say(history.RoleSystem, r.Timestamp, text)
	case strings.HasPrefix(text, "<command-name>"), strings.HasPrefix(text, "<local-command-"):
		// claude's own command, which the model does not see
	case strings.HasPrefix(text, "<command-message>"):
		if words := slash().FindStringSubmatch(text); words != nil {
			text = strings.TrimSpace(words[1] + " " + words[2])
		}
		t.Say(history.RoleUser, r.Timestamp, text)
	case strings.HasPrefix(text, "<bash-input>"):
		t.Say(history.RoleUser, r.Timestamp, "!"+shell().ReplaceAllString(text, ""))
	case strings.HasPrefix(text, "<bash-stdout>"):
		t.Say(history.RoleSystem, r.Timestamp, shell().ReplaceAllString(text, ""))
	default:
		t.Say(history.RoleUser, r.Timestamp, text)
	}
}
