package demo

import (
	"context"
	"encoding/json"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/demo/program"
	"paw/orchestrator/cli/internal/records"
	"paw/session"
	"paw/session/turn"
)

func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var r program.Report
	err := json.Unmarshal(payload, &r)
	r.Event = name
	return eventOf(r), err
}

// eventOf translates a report of the demo CLI.
func eventOf(r program.Report) turn.Event {
	e := turn.Event{Conversation: r.SessionID, TurnID: r.TurnID, Transcript: r.TranscriptPath}
	switch r.Event {
	case "start":
		e.Kind, e.Source = turn.KindSessionStart, r.Source
	case "turn_start":
		e.Kind, e.Prompt = turn.KindPrompt, r.Prompt
	case "waiting":
		e.Kind, e.Message = turn.KindInput, r.Question
	case "answered":
		e.Kind, e.Message = turn.KindAnswered, r.Answer
	case "turn_end":
		e.Kind, e.Message = turn.KindEnd, r.Answer
	case "interrupted":
		e.Kind = turn.KindInterrupt
	case "error":
		e.Kind, e.ErrorType, e.Message = turn.KindError, "error", r.Error
		if r.Until != nil {
			e.Limit = &turn.Limit{Until: *r.Until}
		}
	case "exit":
		e.Kind, e.Source = turn.KindSessionEnd, "exit"
	}
	return e
}

// Observe reads the end of the conversation's file, which has every event that hooks report.
func (d driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	var seen sight
	left := false // the program began or ended after the turn's last event
	file := d.file(s)
	err := records.EachBack(file, func(line program.Entry) bool {
		if line.Event == "" {
			return true
		}
		id := program.TurnID(s.ConversationID, line.Turn)
		if records.IsOpen(last) && last.TurnID != "" && last.TurnID != id {
			return true
		}
		if line.Event == "start" || line.Event == "exit" {
			seen.Observed, left = cli.Observed{Known: true, At: line.Timestamp, Source: session.SourceTranscript}, true
			return records.IsOpen(last) // look for the turn that the exit cut off
		}
		e := eventOf(program.Report{Entry: line, SessionID: s.ConversationID, TurnID: id, TranscriptPath: file})
		if e.Kind != "" {
			seen.take(e, line.Timestamp, records.IsOpen(last), left)
		}
		return false
	})
	return seen.Observed, err
}

// sight builds an Observed from events.
type sight struct{ cli.Observed }

// take sets the state of the CLI from the newest event of a turn; left says that the program began
// or ended after that event.
func (o *sight) take(e turn.Event, at time.Time, open, left bool) {
	ended := e.Kind == turn.KindEnd || e.Kind == turn.KindError || e.Kind == turn.KindInterrupt
	if left && !ended {
		e.Kind, e.Message = turn.KindInterrupt, "the CLI exited"
		o.Ended = &e
		return
	}
	o.Observed = cli.Observed{Known: true, At: at, Source: session.SourceTranscript}
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
