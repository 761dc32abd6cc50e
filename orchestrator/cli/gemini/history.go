package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
)

// History reads the chat file as a log: each message in its newest form. gemini also records the
// model's context, without what was cancelled and what came before a compression; those records are
// skipped.
func (g driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	var chat log
	begun, err := records.ReadTalk(ctx, g, s, chat.take)
	if _, ok := errors.AsType[*cli.ConversationError](err); ok {
		if old := g.oldChat(s); old != nil {
			return old.transcript(s.ConversationID, 0), nil
		}
	}
	if err != nil {
		return cli.Transcript{}, err
	}
	return chat.transcript(s.ConversationID, begun.Skipped), nil
}

// oldChat reads the conversation in the format of older versions, one JSON document; nil where
// there is none.
func (g driver) oldChat(s cli.Spec) *log {
	files, _ := filepath.Glob(chats(s) + ".json")
	for _, file := range slices.Backward(files) {
		var document struct {
			SessionID string   `json:"sessionId"`
			Messages  []record `json:"messages"`
		}
		content, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(content, &document) != nil || document.SessionID != s.ConversationID {
			continue
		}
		var chat log
		for _, r := range document.Messages {
			chat.take(r)
		}
		return &chat
	}
	return nil
}

// record is a message, or a change of the chat's metadata.
type record struct {
	ID             string             `json:"id"`
	Timestamp      time.Time          `json:"timestamp"`
	Type           string             `json:"type"` // user, gemini, info, warning, error
	Content        records.ModelParts `json:"content"`
	DisplayContent records.ModelParts `json:"displayContent"` // text as typed, set where Content has the contents of files
	ToolCalls      []struct {
		ID        string             `json:"id"`
		Name      string             `json:"name"`
		Args      json.RawMessage    `json:"args"`
		Result    records.ModelParts `json:"result"`
		Timestamp time.Time          `json:"timestamp"`
	} `json:"toolCalls"`

	Thoughts []json.RawMessage `json:"thoughts"`

	SessionID string `json:"sessionId"` // set in the first line
	RewindTo  string `json:"$rewindTo"`
	Set       *struct {
		SessionID string    `json:"sessionId"`
		Messages  *[]record `json:"messages"` // context of the model, which replaces all messages before
	} `json:"$set"`
}

// prompt returns what the user typed, without the context that gemini puts before it.
func (r record) prompt() string {
	if typed := r.DisplayContent.Text(); typed != "" {
		return typed
	}
	return slices.DeleteFunc(slices.Clone(r.Content), func(p records.ModelPart) bool {
		return p.Text != "" && (!isText(p.Text) || strings.HasPrefix(p.Text, "<state_snapshot>"))
	}).Text()
}

// calls returns the model's tool calls, from the list with results and from the content.
func (r record) calls() []history.ToolCall {
	calls := r.Content.Calls()
	for _, call := range r.ToolCalls {
		known := slices.ContainsFunc(calls, func(c history.ToolCall) bool { return c.ID == call.ID })
		if !known {
			calls = append(calls, history.ToolCall{ID: call.ID, Name: call.Name, Arguments: records.CompactJSON(call.Args)})
		}
	}
	return calls
}

// meaning returns a key that is equal for a message and its copy, "" for an empty message.
func (r record) meaning() string {
	text := r.Content.Text()
	if r.Type == "user" {
		text = r.prompt()
	}
	for _, call := range r.calls() {
		text += "\x00" + call.ID
	}
	for _, part := range r.Content {
		if part.FunctionResponse != nil {
			text += "\x00" + part.FunctionResponse.ID
		}
	}
	if text == "" {
		return ""
	}
	return r.Type + "\x00" + text
}

// log lists the messages of a chat, in the order in which they were first written.
type log struct {
	messages []record
	index    map[string]int // index of a message by its id
	unknown  []record       // records that are neither messages nor changes
	copying  bool           // gemini is writing the context again, message by message with new ids, as after a refused permission
	copied   int            // number of messages that the copy has passed
}

func (l *log) take(r record) {
	at, known := l.index[r.ID]
	switch {
	case r.RewindTo != "":
		l.copying = false
		if at, known := l.index[r.RewindTo]; known {
			l.messages = l.messages[:at]
		}
	case r.Set != nil:
		l.copying = l.copying && r.Set.Messages == nil
	case r.ID == "":
		if r.SessionID == "" {
			l.unknown = append(l.unknown, r)
		}
	case known && at < len(l.messages) && l.messages[at].ID == r.ID:
		l.messages[at] = r
	case !l.repeats(r):
		if l.index == nil {
			l.index = map[string]int{}
		}
		l.index[r.ID] = len(l.messages)
		l.messages = append(l.messages, r)
	}
}

// repeats reports whether r is a copy of an earlier message.
func (l *log) repeats(r record) bool {
	if r.Type == "user" && len(l.messages) > 0 && len(r.Content) > 0 && strings.HasPrefix(r.Content[0].Text, "<session_context>") {
		l.copying, l.copied = true, 0
	}
	if !l.copying {
		return false
	}
	meaning := r.meaning()
	for i := l.copied; i < len(l.messages); i++ {
		if l.messages[i].meaning() == meaning {
			l.copied = i + 1
			return true
		}
	}
	l.copying = meaning == ""
	return l.copying
}

// transcript turns the log into messages.
func (l *log) transcript(id string, skipped int) cli.Transcript {
	t := records.Talk{Transcript: cli.Transcript{ID: id, Skipped: skipped}}
	for _, r := range l.unknown {
		t.Strange(r.Type, r.meaning() != "")
	}
	answered := map[string]bool{}
	for _, r := range l.messages {
		switch text := r.Content.Text(); r.Type {
		case "user":
			t.Say(history.RoleUser, r.Timestamp, r.prompt())
			t.Responses(r.Timestamp, slices.DeleteFunc(slices.Clone(r.Content), func(p records.ModelPart) bool {
				return p.FunctionResponse == nil || answered[p.FunctionResponse.ID]
			}))
		case "gemini":
			t.Answer(r.Timestamp, text, r.calls())
			for _, call := range r.ToolCalls {
				for _, part := range call.Result {
					if response := part.FunctionResponse; response != nil && !answered[call.ID] {
						answered[call.ID] = true
						t.Result(call.Timestamp, call.ID, records.ResponseText(response.Response))
					}
				}
			}
		case "info":
			if text == "Request cancelled." {
				t.Notice(r.Timestamp, records.StoppedByUser)
			}
		case "error":
			t.Notice(r.Timestamp, text)
		case "warning":
		default:
			t.Strange(r.Type, text != "" || len(r.calls()) > 0)
		}
	}
	return t.Transcript
}

// Uses reads the chat file, which repeats a message whenever it changed.
func (g driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	type line struct {
		ID        string    `json:"id"`
		Timestamp time.Time `json:"timestamp"`
		Type      string    `json:"type"`
		Tokens    struct {
			Input  int64 `json:"input"` // tokens, those from a cache included
			Cached int64 `json:"cached"`
			Total  int64 `json:"total"`
		} `json:"tokens"`
	}
	return records.Uses(ctx, g, s, "tokens", func(l line) (id string, u cli.Use) {
		if l.Type != "gemini" {
			return "", cli.Use{}
		}
		t := l.Tokens
		return l.ID, cli.Use{At: l.Timestamp, Input: max(t.Input-t.Cached, 0), CacheRead: t.Cached, Output: max(t.Total-t.Input, 0)}
	})
}
