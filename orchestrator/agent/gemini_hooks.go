package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"paw/session"
	"paw/session/turn"
)

// geminiHooks are the events that paw listens to, with their matchers; none at tool calls.
var geminiHooks = []string{"SessionStart", "BeforeAgent", "Notification:ToolPermission", "AfterAgent", "SessionEnd"}

// geminiNothing is what AfterAgent has for an answer after an Esc and after an error of the API alike.
const geminiNothing = "[no response text]"

type geminiPayload struct {
	SessionID        string `json:"session_id"`
	TranscriptPath   string `json:"transcript_path"`
	Source           string `json:"source"`
	Reason           string `json:"reason"`
	Prompt           string `json:"prompt"`
	PromptResponse   string `json:"prompt_response"`
	NotificationType string `json:"notification_type"`
	Message          string `json:"message"`

	Timestamp time.Time `json:"timestamp"`
}

func (g gemini) Events(name string, payload []byte) ([]turn.Event, error) {
	var p geminiPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, fmt.Errorf("gemini: hook %s: %w", name, err)
	}
	e := turn.Event{Conversation: p.SessionID, Transcript: p.TranscriptPath}
	switch {
	case name == "SessionStart":
		e.Kind, e.Source = turn.KindSessionStart, p.Source
	case name == "BeforeAgent":
		e.Kind, e.Prompt = turn.KindPrompt, p.Prompt
	case name == "Notification" && p.NotificationType == "ToolPermission":
		e.Kind, e.Message = turn.KindInput, oneLine(p.Message)
	case name == "AfterAgent" && p.PromptResponse == geminiNothing:
		return p.nothing(e), nil
	case name == "AfterAgent":
		e.Kind, e.Message = turn.KindEnd, p.PromptResponse
	case name == "SessionEnd":
		e.Kind, e.Source = turn.KindSessionEnd, p.Reason
	default:
		return nil, nil
	}
	return []turn.Event{e}, nil
}

// nothing is an end without an answer. The transcript tells why; if it does not yet, Observe learns it later.
func (p geminiPayload) nothing(e turn.Event) []turn.Event {
	ended, _, err := geminiEnd(p.TranscriptPath, p.Timestamp.Add(-geminiLag))
	if err != nil || ended == nil {
		return nil
	}
	e.Kind, e.Message = ended.Kind, ended.Message
	return []turn.Event{e}
}

// geminiLag is how long before the hook the notice of an Esc may have been written.
const geminiLag = 2 * time.Second

// Observe reads the end of the chat file, where an Esc leaves a notice. A permission that was granted shows as soon as
// its tool has a result.
func (g gemini) Observe(ctx context.Context, s Spec, last *turn.Record) (Observed, error) {
	s = observedSpec(s, last)
	if !isOpen(last) || s.ConversationID == "" {
		return Observed{}, nil
	}
	found, err := g.Conversation(ctx, s)
	if err != nil || found.Transcript == "" {
		return Observed{}, err
	}
	ended, at, err := geminiEnd(found.Transcript, last.StartedAt)
	if errors.Is(err, fs.ErrNotExist) || err == nil && at.IsZero() {
		return Observed{}, nil
	}
	if err != nil {
		return Observed{}, err
	}
	seen := Observed{Known: true, At: at, Source: session.SourceTranscript}
	switch {
	case ended != nil:
		ended.Conversation, ended.TurnID, ended.Transcript = s.ConversationID, last.TurnID, found.Transcript
		seen.Ended = ended
	case last.Waiting && last.WaitingSince != nil && !at.After(*last.WaitingSince):
		seen.Waiting, seen.Question, seen.At = true, last.Question, *last.WaitingSince
	default:
		seen.Busy = true
	}
	return seen, nil
}

// geminiEnd looks in the end of a chat file, from since on, for what ended a turn without an answer: the notice of an Esc
// or an error. at is the time of that, else of the newest line.
func geminiEnd(path string, since time.Time) (ended *turn.Event, at time.Time, err error) {
	err = linesBack(path, func(raw []byte) bool {
		var line struct {
			Type      string    `json:"type"`
			Timestamp time.Time `json:"timestamp"`
			Content   any       `json:"content"`
		}
		if json.Unmarshal(raw, &line) != nil || line.Timestamp.IsZero() {
			return true
		}
		if line.Timestamp.Before(since) {
			return false
		}
		if at.IsZero() {
			at = line.Timestamp
		}
		text, _ := line.Content.(string)
		switch {
		case line.Type == "info" && text == "Request cancelled.":
			ended = &turn.Event{Kind: turn.KindInterrupt}
		case line.Type == "error":
			ended = &turn.Event{Kind: turn.KindError, Message: text}
		default:
			return true
		}
		at = line.Timestamp
		return false
	})
	return ended, at, err
}
