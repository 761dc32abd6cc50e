package qwen

import (
	"context"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/orchestrator/cli/internal/screens"
	"paw/session/history"
)

// History reads the branch of the chat with which qwen would go on.
func (q driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	var all []record
	var nodes []records.BranchNode
	begun, err := records.ReadTalk(ctx, q, s, func(r record) {
		all, nodes = append(all, r), append(nodes, records.BranchNode{ID: r.UUID, Parent: r.Parent, Prompt: r.Type == "user"})
	})
	t := talk{begun}
	for _, i := range records.LastBranch(nodes, len(nodes)-1) {
		t.addQwen(all[i])
	}
	return t.Transcript, err
}

// talk turns records into messages.
type talk struct{ records.Talk }

type record struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	UUID      string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	Timestamp time.Time `json:"timestamp"`
	Message   struct {
		Parts records.ModelParts `json:"parts"`
	} `json:"message"`
	Payload struct {
		Event struct {
			Name      string `json:"event.name"`
			ErrorType string `json:"error_type"`
			Message   string `json:"error_message"`
		} `json:"uiEvent"`
	} `json:"systemPayload"`
}

func (t *talk) addQwen(r record) {
	switch r.Type {
	case "user":
		role := history.RoleUser
		if r.Subtype != "" {
			role = history.RoleSystem // qwen prompts itself, for example at the end of a background task
		}
		t.Say(role, r.Timestamp, r.Message.Parts.Text())
	case "assistant":
		t.Answer(r.Timestamp, r.Message.Parts.Text(), r.Message.Parts.Calls())
	case "tool_result":
		t.Responses(r.Timestamp, r.Message.Parts)
	case "system":
		switch e := r.Payload.Event; {
		case e.Name != "qwen-code.api_error":
		case e.ErrorType == "APIUserAbortError":
			t.Notice(r.Timestamp, records.StoppedByUser)
		default:
			t.Notice(r.Timestamp, e.Message)
		}
	default:
		t.Strange(r.Type, len(r.Message.Parts) > 0)
	}
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
	return records.Uses(ctx, q, s, func(l line) (id string, u cli.Use) {
		if l.Type != "assistant" {
			return "", cli.Use{}
		}
		t := l.Usage
		return "", cli.Use{At: l.Timestamp, Input: max(t.Input-t.Cached, 0), CacheRead: t.Cached, Output: max(t.Total-t.Input, 0)}
	})
}

// Screen looks for the input box around the terminal's cursor. qwen 0.15 hides that cursor and
// draws its own.
func (driver) Screen(s cli.Screenshot) cli.Screen { return box.Screen(s) }

// Question reads a dialog in which a digit takes an option at once.
func (driver) Question(s cli.Screenshot) (cli.Question, bool) { return box.Question(s, "›❯") }

// box describes qwen's input box.
var box = screens.EdgedBox{
	Upper: "─", Lower: "─", Marks: ">*", Mark: 0,
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
