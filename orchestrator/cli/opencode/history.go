package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
)

// History runs `opencode export`: opencode keeps conversations in a database.
func (o driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	found, err := o.export(ctx, s)
	if err != nil {
		return cli.Transcript{}, err
	}
	t := records.Talk{Transcript: cli.Transcript{ID: s.ConversationID}}
	for _, m := range found.Messages {
		if found.Info.Revert != nil && found.Info.Revert.MessageID == m.Info.ID {
			break // up to the point to which an undo went back
		}
		if string(m.Info.Summary) != "true" {
			add(&t, m)
		}
	}
	return t.Transcript, nil
}

// export returns a conversation as `opencode export` prints it. The output goes to a file: opencode
// exits without flushing a pipe.
func (o driver) export(ctx context.Context, s cli.Spec) (*exportedConversation, error) {
	if err := cli.CheckID(o.Name(), s.ConversationID); err != nil {
		return nil, err
	}
	var export exportedConversation
	unknown := &cli.ConversationError{CLI: o.Name(), ID: s.ConversationID, Reason: "opencode has no conversation of this id"}
	if !hasStore(s.Env) {
		return nil, unknown
	}
	if s.Executable == "" {
		return nil, fmt.Errorf("%s: %w", o.Name(), cli.ErrNotInstalled)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	file, err := os.CreateTemp("", "paw-opencode-*.json")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if err := os.Remove(file.Name()); err != nil { // the open file goes on existing without a name
		return nil, err
	}
	dir := s.Worktree
	if _, err := os.Stat(dir); err != nil {
		dir = s.RepoPath // the export works in any directory
	}
	err = cli.OutputTo(ctx, file, dir, s.Env, s.Executable, "--pure", "export", s.ConversationID)
	if err != nil && strings.Contains(err.Error(), "Session not found") {
		return nil, unknown
	}
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if err := json.NewDecoder(file).Decode(&export); err != nil {
		return nil, fmt.Errorf("opencode export %s: %w", s.ConversationID, err)
	}
	return &export, nil
}

// exportedConversation is the output of `opencode export`.
type exportedConversation struct {
	Info struct {
		Revert *struct {
			MessageID string `json:"messageID"`
		} `json:"revert"`
	} `json:"info"`
	Messages []exportedMessage `json:"messages"`
}

type exportedMessage struct {
	Info struct {
		ID      string          `json:"id"`
		Role    string          `json:"role"`
		Summary json.RawMessage `json:"summary"` // true for the message of a compaction
		Time    struct {
			Created millis `json:"created"`
		} `json:"time"`
		Cost   float64 `json:"cost"` // US dollars, 0 also where opencode knows no price
		Tokens *struct {
			Input     int64 `json:"input"` // tokens, without those from a cache
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
		Error *struct {
			Name string `json:"name"`
			Data struct {
				Message string `json:"message"`
			} `json:"data"`
		} `json:"error"`
	} `json:"info"`
	Parts []exportedPart `json:"parts"`
}

type exportedPart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // added by opencode
	Ignored   bool   `json:"ignored"`   // shown to the user, but not to the model
	CallID    string `json:"callID"`
	Tool      string `json:"tool"`
	State     struct {
		Status string          `json:"status"` // pending, running, completed, error
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
		Time   struct {
			Start millis `json:"start"`
			End   millis `json:"end"`
		} `json:"time"`
	} `json:"state"`
}

// millis is a Unix time in milliseconds, 0 for not yet.
type millis float64

func (o millis) time() time.Time {
	if o == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(o)).UTC()
}

// add adds one message. A tool call and its result are parts of it: text after them becomes
// another message.
func add(t *records.Talk, m exportedMessage) {
	role, at := history.RoleUser, m.Info.Time.Created.time()
	if m.Info.Role == "assistant" {
		role = history.RoleAssistant
	}
	var texts []string
	for _, part := range m.Parts {
		switch part.Type {
		case "text":
			if !part.Synthetic && !part.Ignored {
				texts = append(texts, part.Text)
			}
		case "tool":
			t.Say(role, at, strings.Join(texts, "\n"))
			texts = nil
			addTool(t, part)
		case "step-start", "step-finish", "patch", "snapshot", "reasoning", "file", "agent", "subtask", "compaction", "retry":
		default:
			t.Skipped++
		}
	}
	t.Say(role, at, strings.Join(texts, "\n"))
	if failed := m.Info.Error; failed != nil {
		text := records.StoppedByUser
		if failed.Name != "MessageAbortedError" {
			text = cmp.Or(failed.Data.Message, failed.Name)
		}
		t.Notice(at, text)
	}
}

func addTool(t *records.Talk, part exportedPart) {
	state := part.State
	t.Call(state.Time.Start.time(), history.ToolCall{ID: part.CallID, Name: part.Tool, Arguments: records.CompactJSON(state.Input)})
	switch state.Status {
	case "completed":
		t.Result(state.Time.End.time(), part.CallID, state.Output)
	case "error":
		t.Result(state.Time.End.time(), part.CallID, state.Error)
	}
}

// Uses reads the export of the conversation. Subagents have conversations of their own, which are
// not counted.
func (o driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	found, err := o.export(ctx, s)
	if err != nil {
		return nil, err
	}
	var all []cli.Use
	for _, m := range found.Messages {
		t := m.Info.Tokens
		if m.Info.Role != "assistant" || t == nil || t.Input+t.Output+t.Reasoning+t.Cache.Read+t.Cache.Write == 0 {
			continue
		}
		all = append(all, cli.Use{
			At: m.Info.Time.Created.time(), Input: t.Input, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write,
			Output: t.Output + t.Reasoning, Cost: m.Info.Cost, Priced: m.Info.Cost > 0,
		})
	}
	return all, nil
}
