// Package hooks writes paw's hooks into a CLI's settings, and reads the payloads that several CLIs
// share.
package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"paw/config/disk"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/errs"
	"paw/session/turn"
)

// Seconds that a hook may take: Patience for the hooks at the begin and end of a turn, where paw
// takes snapshots, and Moment for others. CLIs wait for their hooks and kill one that takes longer.
const (
	Patience = 60
	Moment   = 10
)

// PatienceFor returns Patience for the events in long, Moment for others.
func PatienceFor(event string, long ...string) int {
	if slices.Contains(long, event) {
		return Patience
	}
	return Moment
}

// WhenQueued wraps a hook command so that it calls paw only while QueuedMark exists: a hook for
// every tool call then starts no process of paw.
func WhenQueued(s cli.Spec, command string) string {
	return "test ! -e " + errs.Quote(filepath.Join(s.StateDir, cli.QueuedMark)) + " || " + command
}

// Command returns the command line of a hook, quoted for the shell that the CLI runs it with.
func Command(s cli.Spec, cli, event string) string {
	return errs.Quote(s.Hook) + " hook " + cli + " " + event
}

// Group is the value of an event in the hooks of claude's and qwen's settings.
type Group struct {
	Matcher string  `json:"matcher,omitempty"`
	Hooks   []Entry `json:"hooks"`
}

// Entry is one command of a Group.
type Entry struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds in claude, milliseconds in qwen
}

// Object reads a JSON object, a part of settings, in which CLIs allow comments; an empty text is an empty one.
func Object(text []byte) (map[string]json.RawMessage, error) {
	object := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(text)) == 0 {
		return object, nil
	}
	text, err := hujson.Standardize(text)
	if err == nil {
		err = json.Unmarshal(text, &object)
	}
	if err == nil && object == nil {
		err = errors.New("null is no object")
	}
	return object, err
}

// Add adds a hook for each event, given as NAME or NAME:MATCHER, to those that a settings object
// already has.
func Add(settings map[string]json.RawMessage, events []string, entry func(event string) Entry) error {
	given := settings["hooks"]
	if string(given) == "null" {
		given = nil
	}
	hooks, err := Object(given)
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	for _, event := range events {
		name, matcher, _ := strings.Cut(event, ":")
		var groups []json.RawMessage
		if raw, ok := hooks[name]; ok {
			if err := json.Unmarshal(raw, &groups); err != nil {
				return fmt.Errorf("hooks: %s: %w", name, err)
			}
		}
		hooks[name] = JSON(append(groups, JSON(Group{Matcher: matcher, Hooks: []Entry{entry(name)}})))
	}
	settings["hooks"] = JSON(hooks)
	return nil
}

// JSON encodes a value without escaping <, > and &, and without a newline. It panics for values
// that JSON cannot express.
func JSON(value any) json.RawMessage {
	text, err := disk.JSON(value, "")
	if err != nil {
		panic(fmt.Sprintf("hooks: %v", err))
	}
	return json.RawMessage(bytes.TrimSuffix(text, []byte("\n")))
}

// Payload has the fields of all events of claude's, codex's and qwen's hooks.
type Payload struct {
	SessionID            string          `json:"session_id"`
	TranscriptPath       string          `json:"transcript_path"`
	Cwd                  string          `json:"cwd"`
	AgentID              string          `json:"agent_id"`  // id of a subagent, "" for the agent itself
	PromptID             string          `json:"prompt_id"` // claude and qwen set this field
	TurnID               string          `json:"turn_id"`   // codex sets this field
	Prompt               string          `json:"prompt"`
	Source               string          `json:"source"`
	Reason               string          `json:"reason"`
	ToolName             string          `json:"tool_name"`
	ToolInput            json.RawMessage `json:"tool_input"`
	Message              string          `json:"message"`
	Server               string          `json:"mcp_server_name"`
	NotificationType     string          `json:"notification_type"`
	LastAssistantMessage string          `json:"last_assistant_message"`
	StopHookActive       bool            `json:"stop_hook_active"` // an earlier Stop hook made claude go on
	Error                string          `json:"error"`
	ErrorDetails         string          `json:"error_details"`
	BackgroundTasks      []struct {
		Type   string `json:"type"`
		Status string `json:"status"`
	} `json:"background_tasks"`
}

// Event returns an event of that kind, with the fields that all events share.
func (p Payload) Event(kind turn.Kind) turn.Event {
	return turn.Event{
		Kind: kind, Conversation: p.SessionID, TurnID: cmp.Or(p.PromptID, p.TurnID), Transcript: p.TranscriptPath, Folder: p.Cwd, Child: p.AgentID != "",
	}
}

// Named returns the event of a hook whose name means the same in claude, codex and qwen.
func (p Payload) Named(name string) turn.Event {
	var e turn.Event
	switch name {
	case "SessionStart":
		e = p.Event(turn.KindSessionStart)
		e.Source = p.Source
	case "UserPromptSubmit":
		e = p.Event(turn.KindPrompt)
		e.Prompt = p.Prompt
	case "PermissionRequest":
		e = p.Event(turn.KindInput)
		e.Message = questions.OfTool(p.ToolName, p.ToolInput)
	case "Stop":
		e = p.Event(turn.KindEnd)
		e.Message = p.LastAssistantMessage
	case "StopFailure":
		e = p.Event(turn.KindError)
		e.ErrorType, e.Message = p.Error, p.LastAssistantMessage
	case "SessionEnd":
		e = p.Event(turn.KindSessionEnd)
		e.Source = p.Reason
	}
	return e
}
