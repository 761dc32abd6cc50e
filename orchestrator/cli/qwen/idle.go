package qwen

import (
	"strings"
	"time"

	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/records"
	"paw/session/turn"
)

// idle is what the notice says that qwen waits for a prompt. It comes after an Esc, which has no hook of its own, and
// also after an answer and an error, whose hooks run at the same time and may be later: the record of the conversation
// tells which of them it was. An answer is left to its own hook. The notice is about the turn of the moment when it came.
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

// How long after the notice the record may not have the end that the notice is about. Of words that an Esc cut off only
// the end of the response could still come, which is written together with them.
const (
	flush      = 2 * time.Second
	flushWords = 200 * time.Millisecond
)

// written is the ending that is in the record once it is written.
func written(path string) (how int, message string) {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		how, message = ending(path)
		waited := time.Since(began)
		if how != endOpen && how != endWords || how == endWords && waited >= flushWords || waited >= flush {
			return how, message
		}
	}
}

// How the work on the newest prompt of a conversation stands by its record.
const (
	endOpen     = iota // neither an answer nor an error is in the record
	endWords           // words of the model are, and no end of its response
	endAborted         // by the user
	endFailed          // by an error of the API
	endAnswered        // the model said its last
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

// ending reads the record back to the newest prompt or result of a tool. An abort is final. Otherwise what comes last
// counts, since errors are tried again. Words of the model are an answer where the API had ended its response: what an Esc
// cuts off is recorded as well.
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

// failed reports whether a request failed, aborted whether that was because the user stopped it.
func (l chatLine) failed() bool { return strings.HasSuffix(l.Payload.Event.Name, ".api_error") }

func (l chatLine) aborted() bool {
	return l.failed() && strings.Contains(l.Payload.Event.Error, "aborted")
}

// calls reports whether the model wants the result of a tool.
func (l chatLine) calls() bool {
	for _, part := range l.Message.Parts {
		if part.FunctionCall != nil {
			return true
		}
	}
	return false
}
