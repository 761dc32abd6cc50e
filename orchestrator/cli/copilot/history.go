package copilot

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
)

// History reads the file of events. copilot deletes from it what a rewind takes back.
func (c driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	var all []eventRecord
	begun, err := records.ReadTalk(ctx, c, s, func(e eventRecord) { all = append(all, e) })
	t := talk{Talk: begun, answered: map[string]bool{}}
	for _, e := range all {
		t.add(e)
	}
	return t.Transcript, err
}

type eventRecord struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	AgentID   string    `json:"agentId"` // set for events of a subagent
	Data      struct {
		Content      string `json:"content"`
		Source       string `json:"source"` // set for a prompt that the user did not type
		Message      string `json:"message"`
		ToolCallID   string `json:"toolCallId"`
		ToolRequests []struct {
			ToolCallID string          `json:"toolCallId"`
			Name       string          `json:"name"`
			Arguments  json.RawMessage `json:"arguments"`
		} `json:"toolRequests"`
		Result struct {
			Content string `json:"content"` // result of a tool
			Kind    string `json:"kind"`    // answer to a permission request: approved or not
			Reason  string `json:"reason"`
		} `json:"result"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"data"`
}

// aside has the prefixes of the types of events that are no messages.
var aside = []string{
	"session.", "assistant.", "tool.", "hook.", "permission.", "system.", "subagent.", "skill.", "user_input.",
	"elicitation.", "sampling.", "mcp.", "command.", "external_tool.", "exit_plan_mode.", "pending_messages.", "model.",
}

// talk turns events into messages.
type talk struct {
	records.Talk
	answered map[string]bool // tool calls that have a result
}

func (t *talk) add(e eventRecord) {
	d := e.Data
	switch {
	case e.AgentID != "":
	case e.Type == "user.message" && (d.Source == "" || d.Source == "user"):
		t.Say(history.RoleUser, e.Timestamp, typed(t.ID, d.Content))
	case e.Type == "user.message":
		t.Say(history.RoleSystem, e.Timestamp, d.Content)
	case e.Type == "assistant.message":
		var calls []history.ToolCall
		for _, request := range d.ToolRequests {
			calls = append(calls, history.ToolCall{ID: request.ToolCallID, Name: request.Name, Arguments: arguments(request.Arguments)})
		}
		t.Answer(e.Timestamp, d.Content, calls)
	case e.Type == "tool.execution_complete":
		t.finish(e.Timestamp, d.ToolCallID, cmp.Or(d.Result.Content, d.Error.Message))
	case e.Type == "permission.completed" && d.Result.Kind == "cancelled":
		// The user stopped the turn at the question: no other event tells about the tool.
		t.finish(e.Timestamp, d.ToolCallID, strings.TrimSuffix(d.Result.Kind+": "+d.Result.Reason, ": "))
	case e.Type == "session.error":
		t.Notice(e.Timestamp, d.Message)
	case e.Type == "abort":
		t.Notice(e.Timestamp, records.StoppedByUser)
	case !slices.ContainsFunc(aside, func(prefix string) bool { return strings.HasPrefix(e.Type, prefix) }):
		t.Strange(e.Type, d.Content != "" || len(d.ToolRequests) > 0)
	}
}

// finish adds the result of a tool once.
func (t *talk) finish(at time.Time, id, text string) {
	if !t.answered[id] {
		t.answered[id] = true
		t.Result(at, id, text)
	}
}

// arguments returns the arguments of a tool call: JSON, or plain text for a tool that takes text.
func arguments(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return records.CompactJSON(raw)
}
