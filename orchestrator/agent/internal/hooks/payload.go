package hooks

import (
	"encoding/json"

	"paw/session/turn"
)

// Payload is what claude and qwen give to their hooks, of all events together.
type Payload struct {
	SessionID            string          `json:"session_id"`
	TranscriptPath       string          `json:"transcript_path"`
	AgentID              string          `json:"agent_id"` // of a subagent
	PromptID             string          `json:"prompt_id"`
	Prompt               string          `json:"prompt"`
	Source               string          `json:"source"`
	Reason               string          `json:"reason"`
	ToolName             string          `json:"tool_name"`
	ToolInput            json.RawMessage `json:"tool_input"`
	Message              string          `json:"message"`
	NotificationType     string          `json:"notification_type"`
	LastAssistantMessage string          `json:"last_assistant_message"`
	StopHookActive       bool            `json:"stop_hook_active"` // a hook sent claude on after an end
	Error                string          `json:"error"`
	ErrorDetails         string          `json:"error_details"`
	BackgroundTasks      []struct {
		Status string `json:"status"`
	} `json:"background_tasks"`
}

// Event is one of that kind, with what is the same in all of them.
func (p Payload) Event(kind turn.Kind) turn.Event {
	return turn.Event{
		Kind: kind, Conversation: p.SessionID, TurnID: p.PromptID, Transcript: p.TranscriptPath, Child: p.AgentID != "",
	}
}
