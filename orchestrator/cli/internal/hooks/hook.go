// Package hooks is how paw's hooks get into the settings of CLIs, and what several of them give to a hook.
package hooks

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
)

// Seconds that a hook may take. A CLI waits for the hooks of a prompt and of an end, in which paw takes snapshots, and
// kills one that takes longer; the others are done in a moment.
const (
	Patience = 60
	Moment   = 10
)

// PatienceFor is the time of one event: long for those at which turns begin and end.
func PatienceFor(event string, long ...string) int {
	if slices.Contains(long, event) {
		return Patience
	}
	return Moment
}

// WhenQueued is a hook command that calls paw only while QueuedMark is there: a hook at each tool costs no process of paw.
func WhenQueued(s cli.Spec, command string) string {
	return "test ! -e " + errs.Quote(filepath.Join(s.StateDir, cli.QueuedMark)) + " || " + command
}

// Command is the command line of one hook, for the shell that the CLI runs it with.
func Command(s cli.Spec, cli, event string) string {
	return errs.Quote(s.Hook) + " hook " + cli + " " + event
}

// Group is how the settings of claude, gemini and qwen write down what runs at an event, whose name is the key.
type Group struct {
	Matcher string  `json:"matcher,omitempty"`
	Hooks   []Entry `json:"hooks"`
}

// Entry is one command that runs.
type Entry struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds in claude, milliseconds in gemini and qwen
}

// Groups are what runs at events, each of them the name of one or `NAME:MATCHER`.
func Groups(events []string, entry func(event string) Entry) map[string]Group {
	groups := map[string]Group{}
	for _, event := range events {
		name, matcher, _ := strings.Cut(event, ":")
		groups[name] = Group{Matcher: matcher, Hooks: []Entry{entry(name)}}
	}
	return groups
}

// Add adds hooks to those that a settings object has already.
func Add(settings map[string]json.RawMessage, add map[string]Group) error {
	hooks := map[string]json.RawMessage{}
	if raw, ok := settings["hooks"]; ok {
		if err := json.Unmarshal(raw, &hooks); err != nil {
			return fmt.Errorf("hooks: %w", err)
		}
	}
	if hooks == nil {
		hooks = map[string]json.RawMessage{}
	}
	for event, group := range add {
		var groups []json.RawMessage
		if raw, ok := hooks[event]; ok {
			if err := json.Unmarshal(raw, &groups); err != nil {
				return fmt.Errorf("hooks: %s: %w", event, err)
			}
		}
		hooks[event] = JSON(append(groups, JSON(group)))
	}
	settings["hooks"] = JSON(hooks)
	return nil
}

// JSON leaves <, > and & as they are and ends without a newline. It is for values that have a form in JSON, such as texts
// and what was JSON before.
func JSON(value any) json.RawMessage {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("hooks: %v", err))
	}
	return json.RawMessage(strings.TrimSuffix(text.String(), "\n"))
}
