package qwen

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/records"
	"paw/session/turn"
)

// idleName is a file with the last notification that qwen waits for a prompt.
const idleName = "qwen-idle.json"

// How long the record, or the hook of an answer, may lag behind the notification. If the record has
// words of the model, only the end of their response can still be missing, which is written
// together with them.
const (
	flush      = 2 * time.Second
	flushWords = 200 * time.Millisecond
)

// idle is a notification.
type idle struct {
	Conversation string    `json:"conversation"`
	At           time.Time `json:"at"`
}

// Rests stores a notification for Observe.
func (driver) Rests(s cli.Spec, e turn.Event) error {
	return os.WriteFile(filepath.Join(s.StateDir, idleName), hooks.JSON(idle{e.Conversation, e.At}), 0o600)
}

// endUnheard returns the end of the open turn last, if qwen waits for a prompt since the turn began
// and the record has had time to tell how the turn ended. An Esc has no hook of its own; an answer
// has one, unless an Esc stops that hook or keeps qwen from calling it.
func endUnheard(s cli.Spec, chat string, last *turn.Record, now time.Time) *turn.Event {
	var seen idle
	data, err := os.ReadFile(filepath.Join(s.StateDir, idleName))
	if err != nil || json.Unmarshal(data, &seen) != nil || seen.Conversation != s.ConversationID || !seen.At.After(last.StartedAt) {
		return nil
	}
	how, message := ending(chat, last.StartedAt)
	e, lag := turn.Event{Kind: turn.KindInterrupt, Conversation: s.ConversationID, Transcript: chat, At: seen.At}, flush
	switch how {
	case endAborted:
		lag = 0
	case endFailed:
		e.Kind, e.Message, lag = turn.KindError, message, 0
	case endAnswered:
		e.Kind, e.Message = turn.KindEnd, message
	case endWords:
		lag = flushWords
	}
	if waited := now.Sub(seen.At); waited < lag && waited >= 0 { // below 0 the clock was set back
		return nil
	}
	return &e
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
		Parts records.ModelParts `json:"parts"`
	} `json:"message"`
	Payload struct {
		Event struct {
			Name  string `json:"event.name"`
			Error string `json:"error_message"`
		} `json:"uiEvent"`
	} `json:"systemPayload"`
}

// ending reads the record back to the newest prompt or tool result of a turn, without the lines from
// before the turn began: qwen writes late where disks are slow, and the newest line may be the
// answer to an earlier prompt. An abort is final; otherwise the last line counts, since errors are
// retried. Words of the model are an answer only if the API completed the response: words that an
// Esc cut off are recorded as well. message is the error or the answer.
func ending(path string, began time.Time) (how int, message string) {
	said, answer, began := false, "", began.Truncate(time.Millisecond)
	_ = records.EachBack(path, func(line chatLine) bool {
		if !line.Timestamp.IsZero() && line.Timestamp.Before(began) {
			return false
		}
		switch event := line.Payload.Event; {
		case line.aborted():
			how = endAborted
			return false
		case how != endOpen:
		case line.failed():
			how, message = endFailed, event.Error
		case line.Type == "assistant" && len(line.Message.Parts.Calls()) == 0:
			said, answer = true, line.Message.Parts.Text()+answer
		case said && strings.HasSuffix(event.Name, ".api_response"):
			how, message = endAnswered, answer
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
