package records

import (
	"encoding/json"
	"strings"
	"time"

	"paw/session/history"
)

// ModelPart is a part of a message as gemini and qwen write it (the Part of Google's model API).
type ModelPart struct {
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

// ModelParts is a text, a part or a list of parts.
type ModelParts []ModelPart

// UnmarshalJSON reads a list of parts; a single part or a plain text becomes a list of one.
func (p *ModelParts) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*p = ModelParts{{Text: text}}
		return nil
	}
	var one ModelPart
	if json.Unmarshal(data, &one) == nil {
		*p = ModelParts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]ModelPart)(p))
}

// Text joins the texts of the parts, without thoughts; a file becomes "[file]".
func (p ModelParts) Text() string {
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

// Calls returns the model's tool calls.
func (p ModelParts) Calls() []history.ToolCall {
	var calls []history.ToolCall
	for _, part := range p {
		if call := part.FunctionCall; call != nil {
			calls = append(calls, history.ToolCall{ID: call.ID, Name: call.Name, Arguments: CompactJSON(call.Args)})
		}
	}
	return calls
}

// ResponseText returns the output or error of a tool, or the whole response where it has neither.
func ResponseText(raw json.RawMessage) string {
	var response struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	}
	if json.Unmarshal(raw, &response) == nil {
		for _, text := range []*string{response.Output, response.Error} {
			if text != nil {
				return *text
			}
		}
	}
	return CompactJSON(raw)
}

// Answer adds a text of the model and its tool calls.
func (t *Talk) Answer(at time.Time, text string, calls []history.ToolCall) {
	if text != "" || len(calls) > 0 {
		t.Messages = append(t.Messages, history.Message{Role: history.RoleAssistant, Content: text, ToolCalls: calls, Timestamp: at})
	}
}

// Responses adds the results of tools.
func (t *Talk) Responses(at time.Time, parts ModelParts) {
	for _, part := range parts {
		if response := part.FunctionResponse; response != nil {
			t.Result(at, response.ID, ResponseText(response.Response))
		}
	}
}
