package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"paw/session/history"
)

// ErrNoTranscript means that a CLI keeps no record of its conversations that paw can read.
var ErrNoTranscript = errors.New("keeps no record of its conversations that paw can read")

// talk writes a transcript down.
type talk struct{ Transcript }

// strange counts a record of a type that paw has never seen. said tells whether it has words, or a tool, in the place
// where messages have theirs.
func (t *talk) strange(recordType string, said bool) {
	if said || recordType == "" {
		t.Skipped++
		return
	}
	if t.Unknown == nil {
		t.Unknown = map[string]int{}
	}
	t.Unknown[recordType]++
}

// stoppedByUser is the system message for the mark that a CLI leaves when the user stops it.
const stoppedByUser = "interrupted by the user"

// transcriptFile finds the file of the conversation Spec.ConversationID. A conversation that has none is a
// *ConversationError.
func transcriptFile(ctx context.Context, cli Driver, s Spec) (string, error) {
	found, err := cli.Conversation(ctx, s)
	if err != nil {
		return "", err
	}
	if found.Transcript == "" {
		return "", &ConversationError{CLI: cli.Name(), ID: s.ConversationID, Reason: found.Reason}
	}
	return found.Transcript, nil
}

// say adds what somebody said, unless it is nothing.
func (t *talk) say(role history.Role, at time.Time, text string) {
	if text != "" {
		t.Messages = append(t.Messages, history.Message{Role: role, Content: text, Timestamp: at})
	}
}

// notice adds a word of the CLI itself; one that it repeats, as for each retry, is there once.
func (t *talk) notice(at time.Time, text string) {
	if n := len(t.Messages); n > 0 && t.Messages[n-1].Role == history.RoleSystem && t.Messages[n-1].Content == text {
		return
	}
	t.say(history.RoleSystem, at, text)
}

// call adds a tool call to what the model said last, if nobody said anything since.
func (t *talk) call(at time.Time, call history.ToolCall) {
	n := len(t.Messages)
	if n == 0 || t.Messages[n-1].Role != history.RoleAssistant {
		t.Messages = append(t.Messages, history.Message{Role: history.RoleAssistant, Timestamp: at})
		n++
	}
	t.Messages[n-1].ToolCalls = append(t.Messages[n-1].ToolCalls, call)
}

// result adds the result of a tool call, which may be empty.
func (t *talk) result(at time.Time, id, text string) {
	t.Messages = append(t.Messages, history.Message{Role: history.RoleTool, ToolCallID: id, Content: text, Timestamp: at})
}

// compactJSON is JSON without the space between its words, "" for none.
func compactJSON(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&out, raw) != nil {
		return ""
	}
	return out.String()
}
