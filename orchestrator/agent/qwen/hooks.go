package qwen

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/hooks"
	"paw/orchestrator/agent/internal/prompts"
	"paw/orchestrator/agent/internal/questions"
	"paw/orchestrator/agent/internal/records"
	"paw/session"
	"paw/session/turn"
)

// hookEvents are the events that paw listens to, with their matchers; none at tool calls. An Esc is no event: it shows as
// the notice that qwen is idle again, which comes after an answer and an error, too.
var hookEvents = []string{
	"SessionStart", "UserPromptSubmit", "PermissionRequest", "Notification:idle_prompt", "Stop", "StopFailure", "SessionEnd",
}

func (q driver) Events(name string, payload []byte) ([]turn.Event, error) {
	var p hooks.Payload
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, fmt.Errorf("qwen: hook %s: %w", name, err)
	}
	var e turn.Event
	switch {
	case name == "SessionStart":
		e = p.Event(turn.KindSessionStart)
		e.Source = p.Source
	case name == "UserPromptSubmit": // with an empty prompt after each result of a tool
		e = p.Event(turn.KindPrompt)
		e.Prompt, e.Queued = typedPrompt(prompts.OwnWords(p.Prompt))
	case name == "PermissionRequest":
		e = p.Event(turn.KindInput)
		e.Message = questions.OfTool(p.ToolName, p.ToolInput)
	case name == "Notification" && p.NotificationType == "idle_prompt":
		return idle(p), nil
	case name == "Stop":
		e = p.Event(turn.KindEnd)
		e.Message = p.LastAssistantMessage
	case name == "StopFailure":
		e = p.Event(turn.KindError)
		e.ErrorType, e.Message = p.Error, p.LastAssistantMessage
		if p.ErrorDetails != "" {
			e.Message = p.ErrorDetails
		}
	case name == "SessionEnd":
		e = p.Event(turn.KindSessionEnd)
		e.Source = p.Reason
	default:
		return nil, nil
	}
	return []turn.Event{e}, nil
}

// joinedMark stands before a prompt that was typed while a tool ran, and goes to the model with the tool's result.
const joinedMark = "\n[User message received during tool execution]: "

// typedPrompt is what the user typed, and whether that joined a turn.
func typedPrompt(prompt string) (typed string, joined bool) {
	typed, joined = strings.CutPrefix(prompt, joinedMark)
	if !joined {
		return prompt, false
	}
	return strings.ReplaceAll(typed, joinedMark, "\n"), true
}

// Observe reads the end of the chat file, where a request that an Esc cut off is noted as an error.
func (q driver) Observe(ctx context.Context, s agent.Spec, last *turn.Record) (agent.Observed, error) {
	if !records.IsOpen(last) {
		return agent.Observed{}, nil
	}
	file := q.file(s)
	var seen agent.Observed
	err := records.LinesBack(file, func(raw []byte) bool {
		var line struct {
			Type      string    `json:"type"`
			Timestamp time.Time `json:"timestamp"`
			Payload   struct {
				Event struct {
					Name  string `json:"event.name"`
					Error string `json:"error_message"`
				} `json:"uiEvent"`
			} `json:"systemPayload"`
		}
		if json.Unmarshal(raw, &line) != nil || line.Timestamp.IsZero() {
			return true
		}
		if line.Timestamp.Before(last.StartedAt) {
			return false
		}
		seen = agent.Observed{Known: true, Busy: true, At: line.Timestamp, Source: session.SourceTranscript}
		if strings.HasSuffix(line.Payload.Event.Name, ".api_error") && strings.Contains(line.Payload.Event.Error, "aborted") {
			seen.Busy = false
			seen.Ended = &turn.Event{Kind: turn.KindInterrupt, Conversation: s.ConversationID, Transcript: file}
		}
		if last.Waiting && last.WaitingSince != nil && !line.Timestamp.After(*last.WaitingSince) {
			seen.Busy, seen.Waiting, seen.Question, seen.At = false, true, last.Question, *last.WaitingSince
		}
		return false
	})
	return seen, err
}
