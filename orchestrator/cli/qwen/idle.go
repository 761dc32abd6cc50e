package qwen

import (
	"strings"
	"time"

	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/records"
	"paw/session/turn"
)

// idle interprets the notification that qwen waits for a prompt. It comes after an Esc, which has
// no other hook, and also after an answer or an error, whose hooks run at the same time and may
// come later: the record tells which it was. An answer is left to its own hook. The notification is
// about the turn that is newest when it comes.
func idle(p hooks.Payload) turn.Event {
	e := p.Event(turn.KindInterrupt)
	e.At = time.Now()
	switch how, message := written(p.TranscriptPath); how {
	case endAnswered:
		return turn.Event{}
	case endFailed:
		e.Kind, e.Message = turn.KindError, message
	}
	return e
}

// How long the record may lag behind the notification. If it has words of the model, only the end
// of their response can still be missing, which is written together with them.
const (
	flush      = 2 * time.Second
	flushWords = 200 * time.Millisecond
)

// written waits until the record has the end of the turn, and returns it.
func written(path string) (how int, message string) {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		how, message = ending(path)
		waited := time.Since(began)
		if how != endOpen && how != endWords || how == endWords && waited >= flushWords || waited >= flush {
			return how, message
		}
	}
}

// The state of the newest prompt, as the record tells it.
const (
	endOpen     = iota // neither an answer nor an error is recorded
	endWords           // words of the model are recorded, but no end of the response
	endAborted         // stopped by the user
	endFailed          // ended by an API error
	endAnswered        // the model has given its answer
)

type chatLine struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Message   struct {
		Parts []struct {
			FunctionCall *struct{} `json:"functionCall"`
		} `json:"parts"`
	} `json:"message"`
	Payload struct {
		Event struct {
			Name  string `json:"event.name"`
			Error string `json:"error_message"`
		} `json:"uiEvent"`
	} `json:"systemPayload"`
}

// ending reads the record back to the newest prompt or tool result. An abort is final; otherwise
// the last line counts, since errors are retried. Words of the model are an answer only if the API
// completed the response: words that an Esc cut off are recorded as well.
func ending(path string) (how int, message string) {
	said := false
	_ = records.EachBack(path, func(line chatLine) bool {
		switch event := line.Payload.Event; {
		case line.aborted():
			how = endAborted
			return false
		case how != endOpen:
		case line.failed():
			how, message = endFailed, event.Error
		case line.Type == "assistant" && !line.calls():
			said = true
		case said && strings.HasSuffix(event.Name, ".api_response"):
			how = endAnswered
		}
		return line.Type != "user" && line.Type != "tool_result"
	})
	if how == endOpen && said {
		how = endWords
	}
	return how, message
}

// failed reports whether a request failed, aborted whether the user stopped it.
func (l chatLine) failed() bool { return strings.HasSuffix(l.Payload.Event.Name, ".api_error") }

func (l chatLine) aborted() bool {
	return l.failed() && strings.Contains(l.Payload.Event.Error, "aborted")
}

// calls reports whether the model calls a tool.
func (l chatLine) calls() bool {
	for _, part := range l.Message.Parts {
		if part.FunctionCall != nil {
			return true
		}
	}
	return false
}
