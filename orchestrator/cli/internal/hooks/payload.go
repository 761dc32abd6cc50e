package hooks

import (
	"cmp"
	"encoding/json"

	"paw/orchestrator/cli/internal/questions"
	"paw/session/turn"
)

// Payload has the fields of all events of claude's, codex's and qwen's hooks.
type Payload struct {
	SessionID            string          `json:"session_id"`
	TranscriptPath       string          `json:"transcript_path"`
	AgentID              string          `json:"agent_id"`  // id of a subagent, "" for the agent itself
	PromptID             string          `json:"prompt_id"` // claude and qwen set this field
	TurnID               string          `json:"turn_id"`   // codex sets this field
	Prompt               string          `json:"prompt"`
	Source               string          `json:"source"`
	Reason               string          `json:"reason"`
	ToolName             string          `json:"tool_name"`
	ToolInput            json.RawMessage `json:"tool_input"`
	Message              string          `json:"message"`
	Server               string          `json:"mcp_server_name"`
	NotificationType     string          `json:"notification_type"`
	LastAssistantMessage string          `json:"last_assistant_message"`
	StopHookActive       bool            `json:"stop_hook_active"` // an earlier Stop hook made claude go on
	Error                string          `json:"error"`
	ErrorDetails         string          `json:"error_details"`
	BackgroundTasks      []struct {
		Type   string `json:"type"`
		Status string `json:"status"`
	} `json:"background_tasks"`
}

// Event returns an event of that kind, with the fields that all events share.
func (p Payload) Event(kind turn.Kind) turn.Event {
	return turn.Event{
		Kind: kind, Conversation: p.SessionID, TurnID: cmp.Or(p.PromptID, p.TurnID), Transcript: p.TranscriptPath, Child: p.AgentID != "",
	}
}

// Named returns the event of a hook whose name means the same in claude, codex and qwen.
func (p Payload) Named(name string) turn.Event {
	var e turn.Event
	switch name {
	case "SessionStart":
		e = p.Event(turn.KindSessionStart)
		e.Source = p.Source
	case "UserPromptSubmit":
		e = p.Event(turn.KindPrompt)
		e.Prompt = p.Prompt
	case "PermissionRequest":
		e = p.Event(turn.KindInput)
		e.Message = questions.OfTool(p.ToolName, p.ToolInput)
	case "Stop":
		e = p.Event(turn.KindEnd)
		e.Message = p.LastAssistantMessage
	case "StopFailure":
		e = p.Event(turn.KindError)
		e.ErrorType, e.Message = p.Error, p.LastAssistantMessage
	case "SessionEnd":
		e = p.Event(turn.KindSessionEnd)
		e.Source = p.Reason
	}
	return e
}
