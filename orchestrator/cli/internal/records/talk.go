package records

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"paw/orchestrator/cli"
	"paw/session/history"
)

// Talk writes a transcript down.
type Talk struct{ cli.Transcript }

// Strange counts a record of a type that paw has never seen. said tells whether it has words, or a tool, in the place
// where messages have theirs.
func (t *Talk) Strange(recordType string, said bool) {
	if said || recordType == "" {
		t.Skipped++
		return
	}
	if t.Unknown == nil {
		t.Unknown = map[string]int{}
	}
	t.Unknown[recordType]++
}

// StoppedByUser is the system message for the mark that a CLI leaves when the user stops it.
const StoppedByUser = "interrupted by the user"

// TranscriptFile finds the file of the conversation Spec.ConversationID. A conversation that has none is a
// *ConversationError.
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

// ReadTalk calls take with each line of the file of the conversation Spec.ConversationID, and begins its transcript.
func ReadTalk[T any](ctx context.Context, d cli.Driver, s cli.Spec, take func(T)) (Talk, error) {
	path, err := TranscriptFile(ctx, d, s)
	if err != nil {
		return Talk{}, err
	}
	skipped, err := CountLines(path, func(line T) bool {
		take(line)
		return true
	})
	return Talk{Transcript: cli.Transcript{ID: s.ConversationID, Skipped: skipped}}, err
}

// Say adds what somebody said, unless it is nothing.
func (t *Talk) Say(role history.Role, at time.Time, text string) {
	if text != "" {
		t.Messages = append(t.Messages, history.Message{Role: role, Content: text, Timestamp: at})
	}
}

// Notice adds a word of the CLI itself; one that it repeats, as for each retry, is there once.
func (t *Talk) Notice(at time.Time, text string) {
	if n := len(t.Messages); n > 0 && t.Messages[n-1].Role == history.RoleSystem && t.Messages[n-1].Content == text {
		return
	}
	t.Say(history.RoleSystem, at, text)
}

// Call adds a tool call to what the model said last, if nobody said anything since.
func (t *Talk) Call(at time.Time, call history.ToolCall) {
	n := len(t.Messages)
	if n == 0 || t.Messages[n-1].Role != history.RoleAssistant {
		t.Messages = append(t.Messages, history.Message{Role: history.RoleAssistant, Timestamp: at})
		n++
	}
	t.Messages[n-1].ToolCalls = append(t.Messages[n-1].ToolCalls, call)
}

// Result adds the result of a tool call, which may be empty.
func (t *Talk) Result(at time.Time, id, text string) {
	t.Messages = append(t.Messages, history.Message{Role: history.RoleTool, ToolCallID: id, Content: text, Timestamp: at})
}

// CompactJSON is JSON without the space between its words, "" for none.
func CompactJSON(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&out, raw) != nil {
		return ""
	}
	return out.String()
}

// Uses reads what the answers of the conversation Spec.ConversationID took from its file. use is that of a line, with the
// id of the answer where it can be on several lines, of which the newest counts; one that took nothing is none.
func Uses[T any](ctx context.Context, cli cli.Driver, s cli.Spec, use func(T) (id string, u cli.Use)) ([]cli.Use, error) {
	path, err := TranscriptFile(ctx, cli, s)
	if err != nil {
		return nil, err
	}
	return UsesIn([]string{path}, use)
}

// UsesIn is Uses of several files, none of whose answers is in another one.
func UsesIn[T any](paths []string, use func(T) (id string, u cli.Use)) ([]cli.Use, error) {
	var all []cli.Use
	at := map[string]int{} // index of an answer by its id
	read := func(line T) bool {
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
		if err := EachLine(path, read); err != nil {
			return all, err
		}
	}
	return all, nil
}
