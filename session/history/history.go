// Package history holds the conversation of one agent as messages of the same form for every CLI.
//
// The package knows no CLI and no file, and has one invariant: the messages that were added are
// returned unchanged and in that order, whatever callers do to the values they passed or got.
package history

import (
	"slices"
	"sync"
	"time"

	"paw/config/disk"

	"github.com/google/uuid"
)

// Role says who wrote a message.
type Role string

// Roles. The result of a tool call has RoleTool and the id of the call.
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
	ToolCallID string     // for RoleTool: id of the call whose result this is
	ToolCalls  []ToolCall // for RoleAssistant: the tool calls it asked for
	Timestamp  time.Time  // zero when the CLI's own record has none
}

// ToolCall is a tool call that an assistant asked for.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON, or raw text for a tool that takes text
}

// History is a growing conversation, safe for use by several goroutines.
type History interface {
	// ID returns the id of the conversation, which never changes.
	ID() string
	// AddMessage appends a copy of a message.
	AddMessage(Message)
	// Messages returns a copy of all messages, in the order they were added.
	Messages() []Message
	// Clear removes all messages. The id stays.
	Clear()
}

// messageJSON is the printed form of a message. Missing values are null or [].
type messageJSON struct {
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	ToolCallID *string    `json:"tool_call_id"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	Timestamp  *time.Time `json:"timestamp"`
}

// MarshalJSON writes
// {"role","content","tool_call_id","tool_calls":[{"id","name","arguments"}],"timestamp"}: a missing
// tool_call_id or timestamp is null, missing tool calls are []. Times are RFC 3339 in UTC.
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
	// SetEscapeHTML on the outer encoder would come too late: json.Marshal escapes in here.
	return disk.JSON(out, "")
}

// memory is a History that is not saved.
type memory struct {
	id string

	mu       sync.RWMutex
	messages []Message
}

// New returns an empty history with a new UUIDv7 as id: ids sort by creation time.
func New() History {
	return &memory{id: uuid.Must(uuid.NewV7()).String()}
}

// Restored returns an empty history with a known id.
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

// clone returns a deep copy of a message. The elements of ToolCalls hold no pointers.
func (m Message) clone() Message {
	m.ToolCalls = slices.Clone(m.ToolCalls)
	return m
}
