package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/records"
	"paw/session"
	"paw/session/turn"
)

// hookPayload is what the demo CLI gives to its hooks, of all events together.
type hookPayload struct {
	SessionID      string     `json:"session_id"`
	TurnID         string     `json:"turn_id"`
	TranscriptPath string     `json:"transcript_path"`
	Source         string     `json:"source"`
	Prompt         string     `json:"prompt"`
	Question       string     `json:"question"`
	Answer         string     `json:"answer"`
	Error          string     `json:"error"`
	Until          *time.Time `json:"limited_until"`
}

func (d driver) Events(name string, payload []byte) ([]turn.Event, error) {
	var p hookPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, fmt.Errorf("demo: hook %s: %w", name, err)
	}
	e := turn.Event{Conversation: p.SessionID, TurnID: p.TurnID, Transcript: p.TranscriptPath}
	switch name {
	case "start":
		e.Kind, e.Source = turn.KindSessionStart, p.Source
	case "turn_start":
		e.Kind, e.Prompt = turn.KindPrompt, p.Prompt
	case "waiting":
		e.Kind, e.Message = turn.KindInput, p.Question
	case "answered":
		e.Kind, e.Message = turn.KindAnswered, p.Answer
	case "turn_end":
		e.Kind, e.Message = turn.KindEnd, p.Answer
	case "interrupted":
		e.Kind = turn.KindInterrupt
	case "error":
		e.Kind, e.ErrorType, e.Message = turn.KindError, "error", p.Error
		if p.Until != nil {
			e.Limit = &turn.Limit{Until: *p.Until}
		}
	case "exit":
		e.Kind, e.Source = turn.KindSessionEnd, "exit"
	default:
		return nil, nil
	}
	return []turn.Event{e}, nil
}

// Observe reads the end of the conversation's file, which has every event that the hooks report.
func (d driver) Observe(ctx context.Context, s agent.Spec, last *turn.Record) (agent.Observed, error) {
	var seen sight
	left := false // the program began or ended since
	file := d.file(s)
	err := records.LinesBack(file, func(raw []byte) bool {
		var line struct {
			Event     string     `json:"event"`
			Turn      int        `json:"turn"`
			Question  string     `json:"question"`
			Answer    string     `json:"answer"`
			Error     string     `json:"error"`
			Until     *time.Time `json:"limited_until"`
			Timestamp time.Time  `json:"timestamp"`
		}
		if json.Unmarshal(raw, &line) != nil || line.Event == "" {
			return true
		}
		id := turnID(s.ConversationID, line.Turn)
		if records.IsOpen(last) && last.TurnID != "" && last.TurnID != id {
			return true
		}
		if line.Event == "start" || line.Event == "exit" {
			seen.Observed, left = agent.Observed{Known: true, At: line.Timestamp, Source: session.SourceTranscript}, true
			return records.IsOpen(last) // look for the turn that it cut off
		}
		payload, err := json.Marshal(hookPayload{
			SessionID: s.ConversationID, TurnID: id, TranscriptPath: file, Question: line.Question, Answer: line.Answer, Error: line.Error, Until: line.Until,
		})
		if err != nil {
			return false
		}
		events, _ := d.Events(line.Event, payload)
		if len(events) == 1 {
			seen.take(events[0], line.Timestamp, records.IsOpen(last), left)
		}
		return false
	})
	return seen.Observed, err
}

// sight is an observation that is made from events.
type sight struct{ agent.Observed }

// take makes the newest event of a turn the state of the CLI.
func (o *sight) take(e turn.Event, at time.Time, open, left bool) {
	ended := e.Kind == turn.KindEnd || e.Kind == turn.KindError || e.Kind == turn.KindInterrupt
	if left && !ended {
		e.Kind, e.Message = turn.KindInterrupt, "the CLI exited"
		o.Ended = &e
		return
	}
	o.Observed = agent.Observed{Known: true, At: at, Source: session.SourceTranscript}
	switch {
	case ended && open:
		o.Ended = &e
	case ended:
	case e.Kind == turn.KindInput:
		o.Waiting, o.Question = true, e.Message
	default:
		o.Busy = true
	}
}

// turnID is the id that the demo CLI gives to a turn: its conversation and a number that counts on when resumed.
func turnID(conversation string, number int) string {
	return fmt.Sprintf("%s/%d", conversation, number)
}
