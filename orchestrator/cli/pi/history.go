package pi

import (
	"context"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
)

// record is a line of a conversation's file. Records are a tree: after a rewind the next one follows an older one.
type record struct {
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	Parent    string    `json:"parentId"`
	Timestamp time.Time `json:"timestamp"`
	Message   message   `json:"message"`
	Usage     usage     `json:"usage"`         // of a request that pi made for itself
	Cwd       string    `json:"cwd"`           // in the first line
	Source    string    `json:"parentSession"` // file of which this one is a copy, in the first line
}

type message struct {
	Role    string        `json:"role"`
	Content records.Parts `json:"content"`
	CallID  string        `json:"toolCallId"` // of a toolResult
	Stop    string        `json:"stopReason"`
	Error   string        `json:"errorMessage"`
	Usage   usage         `json:"usage"`
	Command string        `json:"command"` // of a bashExecution
	Output  string        `json:"output"`
}

type usage struct {
	Input      int64 `json:"input"` // tokens, without those from a cache
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Cost       struct {
		Total float64 `json:"total"` // US dollars, 0 also where pi knows no price
	} `json:"cost"`
}

// History reads the branch of the conversation with which pi would go on.
func (p driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	t, all, err := records.ReadTalk[record](ctx, p, s)
	all = slices.DeleteFunc(all, func(r record) bool { return r.Type == "session" }) // the first line, which is not in the tree
	for _, r := range records.LastBranch(all, len(all)-1, func(r record) records.BranchNode {
		return records.BranchNode{ID: r.ID, Parent: r.Parent, Prompt: r.Message.Role == "user"}
	}) {
		add(&t, r)
	}
	return t.Transcript, err
}

// add turns a record into messages.
func add(t *records.Talk, r record) {
	m, at := r.Message, r.Timestamp
	if r.Type != "message" {
		t.Strange(r.Type, len(m.Content) > 0)
		return
	}
	switch m.Role {
	case "user":
		t.Say(history.RoleUser, at, m.Content.Words())
	case "assistant":
		var calls []history.ToolCall
		for _, p := range m.Content {
			if p.Type == "toolCall" {
				calls = append(calls, history.ToolCall{ID: p.ID, Name: p.Name, Arguments: records.CompactJSON(p.Arguments)})
			}
		}
		t.Answer(at, m.Content.Words(), calls)
		switch m.Stop {
		case "aborted":
			t.Notice(at, records.StoppedByUser)
		case "error":
			t.Notice(at, m.Error)
		}
	case "toolResult":
		t.Result(at, m.CallID, m.Content.Words())
	case "bashExecution": // a shell command of the user
		t.Notice(at, "$ "+m.Command+"\n"+m.Output)
	case "system", "custom", "branchSummary", "compactionSummary":
	default:
		t.Strange(m.Role, len(m.Content) > 0)
	}
}

// copied returns when the conversation was made as a copy of another one, the zero time for one that is no copy.
func copied(s cli.Spec) (at time.Time) {
	path, _ := file(s)
	_ = records.EachLine(path, func(head record) bool {
		if head.Source != "" && !strings.HasSuffix(head.Source, "_"+s.ConversationID+".jsonl") {
			at = head.Timestamp
		}
		return false
	})
	return at
}

// Uses reads the whole file, including what a rewind has taken back, without what a fork has of the other conversation.
func (p driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	since := copied(s)
	return records.Uses(ctx, p, s, "usage", func(r record) (id string, u cli.Use) {
		if r.Timestamp.Before(since) {
			return "", cli.Use{}
		}
		t := r.Usage
		if r.Type == "message" {
			t = r.Message.Usage
		}
		return "", cli.Use{
			At: r.Timestamp, Input: t.Input, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output,
			Cost: t.Cost.Total, Priced: t.Cost.Total > 0,
		}
	})
}
