package history

import (
	"bytes"
	"encoding/json"
	"time"
)

// messageJSON is how a message is printed and saved. What a message can have and has not is null or [].
type messageJSON struct {
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	ToolCallID *string    `json:"tool_call_id"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	Timestamp  *time.Time `json:"timestamp"`
}

// MarshalJSON writes {"role","content","tool_call_id","tool_calls":[{"id","name","arguments"}],"timestamp"}: no
// tool_call_id and no timestamp are null, no tool calls are []. Times are RFC 3339 in UTC.
func (m Message) MarshalJSON() ([]byte, error) {
	out := messageJSON{Role: m.Role, Content: m.Content, ToolCalls: m.ToolCalls}
	if out.ToolCalls == nil {
		out.ToolCalls = []ToolCall{}
	}
	if m.ToolCallID != "" {
		out.ToolCallID = &m.ToolCallID
	}
	if !m.Timestamp.IsZero() {
		at := m.Timestamp.UTC()
		out.Timestamp = &at
	}
	// An encoder that leaves <, > and & as they are would not undo what json.Marshal does to them.
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Message) UnmarshalJSON(data []byte) error {
	var in messageJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*m = Message{Role: in.Role, Content: in.Content, ToolCalls: in.ToolCalls}
	if len(in.ToolCalls) == 0 {
		m.ToolCalls = nil
	}
	if in.ToolCallID != nil {
		m.ToolCallID = *in.ToolCallID
	}
	if in.Timestamp != nil {
		m.Timestamp = *in.Timestamp
	}
	return nil
}
