package agent

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// Seconds that a hook may take. A CLI waits for the hooks of a prompt and of an end, in which paw takes snapshots, and
// kills one that takes longer; the others are done in a moment.
const (
	hookPatience = 60
	hookMoment   = 10
)

// hookPatienceFor is the time of one event: long where turns begin and end.
func hookPatienceFor(event string) int {
	switch event {
	case "UserPromptSubmit", "PreToolUse", "Stop", "StopFailure", // claude, codex, qwen
		"BeforeAgent", "AfterAgent", // gemini
		"userPromptSubmitted", "agentStop": // copilot
		return hookPatience
	}
	return hookMoment
}

// QueuedMark is the file in Spec.StateDir that says that a prompt waits behind a turn, or joined it. While it is there the
// hooks of a CLI that does not report when it begins with such a prompt report tools, so that the begin is not missed.
const QueuedMark = "queued"

// whenQueued is a hook command that calls paw only while QueuedMark is there: a hook at each tool costs no process of paw.
func whenQueued(s Spec, command string) string {
	return "test ! -e " + shellQuote(filepath.Join(s.StateDir, QueuedMark)) + " || " + command
}

// checkHook refuses a launch whose hooks or whose files for them have no certain place.
func checkHook(cli string, s Spec) error {
	switch {
	case !filepath.IsAbs(s.Hook):
		return fmt.Errorf("%s: hooks: %q is not an absolute path", cli, s.Hook)
	case !filepath.IsAbs(s.StateDir):
		return fmt.Errorf("%s: hooks: no folder for their files: %q", cli, s.StateDir)
	}
	return nil
}

// hookCommand is the command line of one hook, for the shell that the CLI runs it with.
func hookCommand(s Spec, cli, event string) string {
	return shellQuote(s.Hook) + " hook " + cli + " " + event
}

// shellQuote is one word for sh, bash, zsh and fish.
func shellQuote(word string) string {
	plain := func(r rune) bool { return alphanumeric(r) || strings.ContainsRune("/._-+@%:,", r) }
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// hookGroup is how the settings of claude, gemini and qwen write down what runs at an event, whose name is the key.
type hookGroup struct {
	Matcher string      `json:"matcher,omitempty"`
	Hooks   []hookEntry `json:"hooks"`
}

type hookEntry struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds in claude, milliseconds in gemini and qwen
}

// addHooks adds hooks to those that a settings object has already.
func addHooks(settings map[string]json.RawMessage, add map[string]hookGroup) error {
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
		own, err := encodeJSON(group)
		if err != nil {
			return err
		}
		if hooks[event], err = encodeJSON(append(groups, own)); err != nil {
			return err
		}
	}
	var err error
	settings["hooks"], err = encodeJSON(hooks)
	return err
}

// encodeJSON leaves <, > and & as they are and ends without a newline.
func encodeJSON(value any) (json.RawMessage, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return json.RawMessage(strings.TrimSuffix(text.String(), "\n")), nil
}
