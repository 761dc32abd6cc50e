// Package history holds the conversation of one agent as uniform messages, whatever CLI it comes from.
//
// It knows no CLI and no file. Its one invariant: what was added is what is given back, in that order, whatever callers do
// to the values they put in or got out.
package history

import "time"

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
