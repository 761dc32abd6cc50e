package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"paw/session/history"
)

// History reads the file of events. copilot takes out what a rewind takes back.
func (c copilot) History(ctx context.Context, s Spec) (Transcript, error) {
	path, err := transcriptFile(ctx, c, s)
	if err != nil {
		return Transcript{}, err
	}
	t := copilotTalk{talk: talk{Transcript{ID: s.ConversationID}}, answered: map[string]bool{}}
	skipped, err := countLines(path, func(e copilotEvent) bool {
		t.add(e)
		return true
	})
	if err != nil {
		return Transcript{}, err
	}
	t.Skipped += skipped
	return t.Transcript, nil
}

type copilotEvent struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	AgentID   string    `json:"agentId"` // of a subagent
	Data      struct {
		Content      string `json:"content"`
		Source       string `json:"source"` // of a prompt that the user did not type
		Message      string `json:"message"`
		ToolCallID   string `json:"toolCallId"`
		ToolRequests []struct {
			ToolCallID string          `json:"toolCallId"`
			Name       string          `json:"name"`
			Arguments  json.RawMessage `json:"arguments"`
		} `json:"toolRequests"`
		Result struct {
			Content string `json:"content"` // of a tool
			Kind    string `json:"kind"`    // of a permission: approved or not
			Reason  string `json:"reason"`
		} `json:"result"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"data"`
}

// copilotAside begins the types of the events that are no messages.
var copilotAside = []string{
	"session.", "assistant.", "tool.", "hook.", "permission.", "system.", "subagent.", "skill.", "user_input.",
	"elicitation.", "sampling.", "mcp.", "command.", "external_tool.", "exit_plan_mode.", "pending_messages.", "model.",
}

// copilotTalk makes messages of events.
type copilotTalk struct {
	talk
	answered map[string]bool // tool calls that have a result
}

func (t *copilotTalk) add(e copilotEvent) {
	d := e.Data
	switch {
	case e.AgentID != "":
	case e.Type == "user.message" && (d.Source == "" || d.Source == "user"):
		t.say(history.RoleUser, e.Timestamp, copilotTyped(t.ID, d.Content))
	case e.Type == "user.message":
		t.say(history.RoleSystem, e.Timestamp, d.Content)
	case e.Type == "assistant.message":
		var calls []history.ToolCall
		for _, request := range d.ToolRequests {
			calls = append(calls, history.ToolCall{ID: request.ToolCallID, Name: request.Name, Arguments: copilotArguments(request.Arguments)})
		}
		t.answer(e.Timestamp, d.Content, calls)
	case e.Type == "tool.execution_complete":
		t.finish(e.Timestamp, d.ToolCallID, cmp.Or(d.Result.Content, d.Error.Message))
	case e.Type == "permission.completed" && d.Result.Kind == "cancelled":
		// The user stopped the turn at the question: nothing else tells of the tool.
		t.finish(e.Timestamp, d.ToolCallID, strings.TrimSuffix(d.Result.Kind+": "+d.Result.Reason, ": "))
	case e.Type == "session.error":
		t.notice(e.Timestamp, d.Message)
	case e.Type == "abort":
		t.notice(e.Timestamp, stoppedByUser)
	case !slices.ContainsFunc(copilotAside, func(prefix string) bool { return strings.HasPrefix(e.Type, prefix) }):
		t.strange(e.Type, d.Content != "" || len(d.ToolRequests) > 0)
	}
}

// finish adds the result of a tool, once.
func (t *copilotTalk) finish(at time.Time, id, text string) {
	if !t.answered[id] {
		t.answered[id] = true
		t.result(at, id, text)
	}
}

// copilotArguments are JSON, or the text of a tool that takes text.
func copilotArguments(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return compactJSON(raw)
}
