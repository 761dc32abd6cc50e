package records

import (
	"encoding/json"
	"strings"
)

// Parts are the pieces of a message, or of the result of a tool.
type Parts []Part

// Part is a piece of a message as claude, codex and pi record it.
type Part struct {
	Type      string          `json:"type"` // such as text, thinking, tool_use, toolCall or image
	Text      string          `json:"text"`
	ID        string          `json:"id"` // of a tool call
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Arguments json.RawMessage `json:"arguments"`
	ToolUseID string          `json:"tool_use_id"` // of a tool_result
	Content   Parts           `json:"content"`
}

// UnmarshalJSON reads a list of parts; a plain text is one part.
func (p *Parts) UnmarshalJSON(data []byte) error {
	if data[0] != '"' { // a try would read a long list once more
		return json.Unmarshal(data, (*[]Part)(p))
	}
	var text string
	err := json.Unmarshal(data, &text)
	*p = Parts{{Type: "text", Text: text}}
	return err
}

// Words joins the texts of the parts; an image or a document becomes its type in brackets.
func (p Parts) Words() string {
	var words []string
	for _, part := range p {
		switch kind := strings.TrimPrefix(part.Type, "input_"); {
		case part.Text != "":
			words = append(words, part.Text)
		case kind == "image" || kind == "document":
			words = append(words, "["+kind+"]")
		}
	}
	return strings.Join(words, "\n")
}
