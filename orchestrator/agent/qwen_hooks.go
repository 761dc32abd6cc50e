package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"paw/session"
	"paw/session/turn"
)

// qwenHooks are the events that paw listens to, with their matchers; none at tool calls. An Esc is no event: it shows as
// the notice that qwen is idle again, which comes after an answer and an error, too.
var qwenHooks = []string{
	"SessionStart", "UserPromptSubmit", "PermissionRequest", "Notification:idle_prompt", "Stop", "StopFailure", "SessionEnd",
}

func (q qwen) Events(name string, payload []byte) ([]turn.Event, error) {
	var p hookPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, fmt.Errorf("qwen: hook %s: %w", name, err)
	}
	var e turn.Event
	switch {
	case name == "SessionStart":
		e = p.event(turn.KindSessionStart)
		e.Source = p.Source
	case name == "UserPromptSubmit": // with an empty prompt after each result of a tool
		e = p.event(turn.KindPrompt)
		e.Prompt, e.Queued = qwenPrompt(ownWords(p.Prompt))
	case name == "PermissionRequest":
		e = p.event(turn.KindInput)
		e.Message = toolQuestion(p.ToolName, p.ToolInput)
	case name == "Notification" && p.NotificationType == "idle_prompt":
		return qwenIdle(p), nil
	case name == "Stop":
		e = p.event(turn.KindEnd)
		e.Message = p.LastAssistantMessage
	case name == "StopFailure":
		e = p.event(turn.KindError)
		e.ErrorType, e.Message = p.Error, p.LastAssistantMessage
		if p.ErrorDetails != "" {
			e.Message = p.ErrorDetails
		}
	case name == "SessionEnd":
		e = p.event(turn.KindSessionEnd)
		e.Source = p.Reason
	default:
		return nil, nil
	}
	return []turn.Event{e}, nil
}

// qwenJoined stands before a prompt that was typed while a tool ran, and goes to the model with the tool's result.
const qwenJoined = "\n[User message received during tool execution]: "

// qwenPrompt is what the user typed, and whether that joined a turn.
func qwenPrompt(prompt string) (typed string, joined bool) {
	typed, joined = strings.CutPrefix(prompt, qwenJoined)
	if !joined {
		return prompt, false
	}
	return strings.ReplaceAll(typed, qwenJoined, "\n"), true
}

// Observe reads the end of the chat file, where a request that an Esc cut off is noted as an error.
func (q qwen) Observe(ctx context.Context, s Spec, last *turn.Record) (Observed, error) {
	s = observedSpec(s, last)
	if !isOpen(last) || s.ConversationID == "" {
		return Observed{}, nil
	}
	if err := checkID(q.Name(), s.ConversationID); err != nil {
		return Observed{}, err
	}
	file := q.file(s)
	var seen Observed
	err := linesBack(file, func(raw []byte) bool {
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
		seen = Observed{Known: true, Busy: true, At: line.Timestamp, Source: session.SourceTranscript}
		if strings.HasSuffix(line.Payload.Event.Name, ".api_error") && strings.Contains(line.Payload.Event.Error, "aborted") {
			seen.Busy = false
			seen.Ended = &turn.Event{Kind: turn.KindInterrupt, Conversation: s.ConversationID, Transcript: file}
		}
		if last.Waiting && last.WaitingSince != nil && !line.Timestamp.After(*last.WaitingSince) {
			seen.Busy, seen.Waiting, seen.Question, seen.At = false, true, last.Question, *last.WaitingSince
		}
		return false
	})
	if errors.Is(err, fs.ErrNotExist) {
		return Observed{}, nil
	}
	return seen, err
}
