// Package history has the messages of a conversation in one form, whatever CLI it comes from. It knows no CLI and no file.
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
