package records

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"paw/orchestrator/cli"
	"paw/session/history"
)

// Talk builds a Transcript.
type Talk struct{ cli.Transcript }

// Strange counts a record of an unknown type as skipped if it may have been a message: said reports
// whether it has text, or a tool, where messages have theirs.
func (t *Talk) Strange(recordType string, said bool) {
	if said || recordType == "" {
		t.Skipped++
	}
}

// StoppedByUser is the system message for a turn that the user interrupted.
const StoppedByUser = "interrupted by the user"

// TranscriptFile returns the file of the conversation Spec.ConversationID; a conversation without a
// file is a *ConversationError.
func TranscriptFile(ctx context.Context, d cli.Driver, s cli.Spec) (string, error) {
	if err := cli.CheckID(d.Name(), s.ConversationID); err != nil {
		return "", err
	}
	found, err := d.Conversation(ctx, s)
	if err != nil {
		return "", err
	}
	if found.Transcript == "" {
		return "", &cli.ConversationError{CLI: d.Name(), ID: s.ConversationID, Reason: found.Reason}
	}
	return found.Transcript, nil
}

// ReadTalk returns the lines of the conversation's file, and a Talk that has no messages yet.
func ReadTalk[T any](ctx context.Context, d cli.Driver, s cli.Spec) (t Talk, all []T, err error) {
	path, err := TranscriptFile(ctx, d, s)
	if err != nil {
		return Talk{}, nil, err
	}
	skipped, err := CountLines(path, s.Recent, func(line T) bool {
		all = append(all, line)
		return true
	})
	return Talk{Transcript: cli.Transcript{ID: s.ConversationID, Skipped: skipped}}, all, err
}

// Say adds a message, unless its text is empty.
func (t *Talk) Say(role history.Role, at time.Time, text string) {
	if text != "" {
		t.Messages = append(t.Messages, history.Message{Role: role, Content: text, Timestamp: at})
	}
}

// Notice adds a system message, unless it repeats the last one, as CLIs do at each retry.
func (t *Talk) Notice(at time.Time, text string) {
	if n := len(t.Messages); n > 0 && t.Messages[n-1].Role == history.RoleSystem && t.Messages[n-1].Content == text {
		return
	}
	t.Say(history.RoleSystem, at, text)
}

// Call adds a tool call to the last message if that is the model's, else to a new one.
func (t *Talk) Call(at time.Time, call history.ToolCall) {
	n := len(t.Messages)
	if n == 0 || t.Messages[n-1].Role != history.RoleAssistant {
		t.Messages = append(t.Messages, history.Message{Role: history.RoleAssistant, Timestamp: at})
		n++
	}
	t.Messages[n-1].ToolCalls = append(t.Messages[n-1].ToolCalls, call)
}

// Result adds the result, possibly empty, of a tool call.
func (t *Talk) Result(at time.Time, id, text string) {
	t.Messages = append(t.Messages, history.Message{Role: history.RoleTool, ToolCallID: id, Content: text, Timestamp: at})
}

// CompactJSON removes white space from JSON; null and invalid JSON become "".
func CompactJSON(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&out, raw) != nil {
		return ""
	}
	return out.String()
}

// Uses reads the tokens of the answers from the conversation's file. use returns those of a line,
// and the answer's id where an answer can be on several lines: the newest one counts, at the time
// of the first. Lines without tokens are skipped; those without key, which each line with tokens
// has, are not decoded.
func Uses[T any](ctx context.Context, cli cli.Driver, s cli.Spec, key string, use func(T) (id string, u cli.Use)) ([]cli.Use, error) {
	path, err := TranscriptFile(ctx, cli, s)
	if err != nil {
		return nil, err
	}
	return UsesIn([]string{path}, key, use)
}

// UsesIn is like Uses for several files, with no answer in more than one.
func UsesIn[T any](paths []string, key string, use func(T) (id string, u cli.Use)) ([]cli.Use, error) {
	var all []cli.Use
	at := map[string]int{} // index of an answer by its id
	written := []byte(`"` + key + `"`)
	read := func(text []byte) bool {
		var line T
		if !bytes.Contains(text, written) || json.Unmarshal(text, &line) != nil {
			return true
		}
		id, u := use(line)
		if u.Input+u.CacheRead+u.CacheWrite+u.Output == 0 {
			return true
		}
		if i, again := at[id]; again {
			u.At = all[i].At
			all[i] = u
			return true
		}
		if id != "" {
			at[id] = len(all)
		}
		all = append(all, u)
		return true
	}
	for _, path := range paths {
		if err := Lines(path, read); err != nil {
			return all, err
		}
	}
	return all, nil
}

// Answer adds a text of the model and its tool calls.
func (t *Talk) Answer(at time.Time, text string, calls []history.ToolCall) {
	if text != "" || len(calls) > 0 {
		t.Messages = append(t.Messages, history.Message{Role: history.RoleAssistant, Content: text, ToolCalls: calls, Timestamp: at})
	}
}
