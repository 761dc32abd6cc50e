package hooks

import (
	"cmp"
	"encoding/json"

	"paw/orchestrator/cli/internal/questions"
	"paw/session/turn"
)

// Payload is what claude, codex and qwen give to their hooks, of all events together.
type Payload struct {
	SessionID            string          `json:"session_id"`
	TranscriptPath       string          `json:"transcript_path"`
	AgentID              string          `json:"agent_id"`  // of a subagent
	PromptID             string          `json:"prompt_id"` // of claude and qwen
	TurnID               string          `json:"turn_id"`   // of codex
	Prompt               string          `json:"prompt"`
	Source               string          `json:"source"`
	Reason               string          `json:"reason"`
	ToolName             string          `json:"tool_name"`
	ToolInput            json.RawMessage `json:"tool_input"`
	Message              string          `json:"message"`
	Server               string          `json:"mcp_server_name"`
	NotificationType     string          `json:"notification_type"`
	LastAssistantMessage string          `json:"last_assistant_message"`
	StopHookActive       bool            `json:"stop_hook_active"` // a hook sent claude on after an end
	Error                string          `json:"error"`
	ErrorDetails         string          `json:"error_details"`
	BackgroundTasks      []struct {
		Type   string `json:"type"`
		Status string `json:"status"`
	} `json:"background_tasks"`
}

// Event is one of that kind, with what is the same in all of them.
func (p Payload) Event(kind turn.Kind) turn.Event {
	return turn.Event{
		Kind: kind, Conversation: p.SessionID, TurnID: cmp.Or(p.PromptID, p.TurnID), Transcript: p.TranscriptPath, Child: p.AgentID != "",
	}
}

// Named is the event of a hook whose name means the same in all three.
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
