package qwen

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
)

// History reads the branch of the chat with which qwen would go on.
func (q driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	t, all, err := records.ReadTalk[record](ctx, q, s)
	for _, r := range records.LastBranch(all, len(all)-1, func(r record) records.BranchNode {
		return records.BranchNode{ID: r.UUID, Parent: r.Parent, Prompt: r.Type == "user"}
	}) {
		add(&t, r)
	}
	return t.Transcript, err
}

// record is a line of a chat file.
type record struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	UUID      string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	Timestamp time.Time `json:"timestamp"`
	Message   struct {
		Parts parts `json:"parts"`
	} `json:"message"`
	Payload struct {
		Event struct {
			Name      string `json:"event.name"`
			ErrorType string `json:"error_type"`
			Message   string `json:"error_message"`
		} `json:"uiEvent"`
	} `json:"systemPayload"`
}

// parts has the pieces of a message, in the form of Google's model API.
type parts []struct {
	Text         string `json:"text"`
	Thought      bool   `json:"thought"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string          `json:"id"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	InlineData json.RawMessage `json:"inlineData"`
}

// text joins the texts, without thoughts; a file becomes "[file]".
func (p parts) text() string {
	var texts []string
	for _, part := range p {
		switch {
		case part.Thought:
		case part.Text != "":
			texts = append(texts, part.Text)
		case len(part.InlineData) > 0:
			texts = append(texts, "[file]")
		}
	}
	return strings.Join(texts, "\n")
}

// calls returns the model's tool calls.
func (p parts) calls() []history.ToolCall {
	var calls []history.ToolCall
	for _, part := range p {
		if call := part.FunctionCall; call != nil {
			calls = append(calls, history.ToolCall{ID: call.ID, Name: call.Name, Arguments: records.CompactJSON(call.Args)})
		}
	}
	return calls
}

// responseText returns the output or error of a tool, or the whole response where it has neither.
func responseText(raw json.RawMessage) string {
	var response struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	}
	_ = json.Unmarshal(raw, &response)
	switch {
	case response.Output != nil:
		return *response.Output
	case response.Error != nil:
		return *response.Error
	}
	return records.CompactJSON(raw)
}

// add turns a record into messages.
func add(t *records.Talk, r record) {
	switch r.Type {
	case "user":
		role := history.RoleUser
		if r.Subtype != "" {
			role = history.RoleSystem // qwen prompts itself, for example at the end of a background task
		}
		t.Say(role, r.Timestamp, r.Message.Parts.text())
	case "assistant":
		t.Answer(r.Timestamp, r.Message.Parts.text(), r.Message.Parts.calls())
	case "tool_result":
		for _, part := range r.Message.Parts {
			if response := part.FunctionResponse; response != nil {
				t.Result(r.Timestamp, response.ID, responseText(response.Response))
			}
		}
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
