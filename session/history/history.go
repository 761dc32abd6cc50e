// Package history holds the conversation of one agent as uniform messages, whatever CLI it comes from.
//
// It knows no CLI and no file. Its one invariant: what was added is what is given back, in that order, whatever callers do
// to the values they put in or got out.
package history

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Role is who a message is from.
type Role string

// The roles. A result of a tool call has RoleTool and names the call.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// String returns the word used in records and output.
func (r Role) String() string { return string(r) }

// Message is one message of a conversation.
type Message struct {
	Role       Role
	Content    string
	ToolCallID string     // of a RoleTool: the call that it is the result of
	ToolCalls  []ToolCall // of a RoleAssistant: what it asked for
	Timestamp  time.Time  // as the caller gave it; zero where the CLI's own record has none
}

// ToolCall is one use of a tool that an assistant asked for.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON, or the raw text of a tool that takes text
}

// History is a conversation that grows. It may be used by several goroutines at once.
type History interface {
	// ID names the conversation. It never changes.
	ID() string
	// AddMessage puts a copy of a message at the end.
	AddMessage(Message)
	// Messages returns a copy of all messages in the order they were added.
	Messages() []Message
	// Clear forgets the messages. The id stays.
	Clear()
}

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

// memory is a history that lives as long as the process.
type memory struct {
	id string

	mu       sync.RWMutex
	messages []Message
}

// New begins an empty history in memory, with a UUIDv7 as its id: histories sort by when they were begun.
func New() History {
	return &memory{id: uuid.Must(uuid.NewV7()).String()}
}

// Restored begins an empty history of a conversation that has an id already.
func Restored(id string) History { return &memory{id: id} }

func (m *memory) ID() string { return m.id }

func (m *memory) AddMessage(message Message) {
	message = message.clone()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = append(m.messages, message)
}

func (m *memory) Messages() []Message {
	m.mu.RLock()
	defer m.mu.RUnlock()
	messages := make([]Message, len(m.messages))
	for i, message := range m.messages {
		messages[i] = message.clone()
	}
	return messages
}

func (m *memory) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = nil
}

// clone makes a copy that shares nothing with the message. The elements of ToolCalls are values.
func (m Message) clone() Message {
	m.ToolCalls = slices.Clone(m.ToolCalls)
	return m
}
