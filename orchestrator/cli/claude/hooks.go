package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/records"
	"paw/session/turn"
)

// hookEvents lists the events that paw listens to, with their matchers.
//
// Ordinary tool calls start no process of paw, unless a prompt waits (see QueuedMark): each would
// cost time. So a permission that was granted is not reported; until the turn ends, claude's
// registry says whether claude still waits (see Observe). Tools that always ask the user are rare:
// the end of such a call is taken as the user's answer.
var hookEvents = []string{
	"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse:AskUserQuestion|ExitPlanMode",
	"Elicitation", "ElicitationResult", "Stop", "StopFailure", "SessionEnd",
}

// forkStart is the name that paw gives to the SessionStart hook of a fork. Its payload has the id
// of the conversation that is copied; the id of the copy comes with its first prompt.
const forkStart = "ForkStart"

// withHooks adds paw's hooks to the arguments of a launch. claude merges --settings with the
// settings of the user and the project, but takes only one --settings: the user's own is merged
// into paw's.
func (c driver) withHooks(s cli.Spec, args []string, fork bool) ([]string, []cli.File, error) {
	if s.Hook == "" {
		return args, nil, nil
	}
	given, args := takeOption(args, "--settings")
	settings, err := givenSettings(s, given)
	if err == nil {
		err = hooks.Add(settings, hookEvents, func(event string) hooks.Entry {
			name := event
			if fork && event == "SessionStart" {
				name = forkStart
			}
			command := hooks.Command(s, c.Name(), name)
			if event == "PreToolUse" {
				command = hooks.WhenQueued(s, command)
			}
			patience := hooks.PatienceFor(event, "UserPromptSubmit", "PreToolUse", "Stop", "StopFailure")
			if event == permissionHook {
				patience = untilAnswered
			}
			return hooks.Entry{Type: "command", Command: command, Timeout: patience}
		})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("claude: --settings: %w", err)
	}
	for name, own := range map[string]any{
		statusLine: map[string]string{"type": "command", "command": hooks.Command(s, c.Name(), cli.StatusLine)},
		keepInPane: true,
	} {
		if _, said := settings[name]; !said {
			settings[name] = hooks.JSON(own)
		}
	}
	file := cli.File{Path: filepath.Join(s.StateDir, "claude-settings.json"), Content: append(hooks.JSON(settings), '\n')}
	return append([]string{"--settings", file.Path}, args...), []cli.File{file}, nil
}

// givenSettings reads the value of the user's --settings, a file name or JSON; "" gives an empty
// map.
func givenSettings(s cli.Spec, given string) (map[string]json.RawMessage, error) {
	if given == "" || strings.HasPrefix(strings.TrimSpace(given), "{") {
		return hooks.Object([]byte(given))
	}
	if !filepath.IsAbs(given) {
		given = filepath.Join(s.Worktree, given)
	}
	content, err := os.ReadFile(given)
	if err != nil {
		return nil, err
	}
	return hooks.Object(content)
}

// takeOption removes every use of an option, as two words or with "=", and returns the last value,
// which is the one that counts.
func takeOption(args []string, name string) (value string, rest []string) {
	rest = slices.Clone(args)
	for i := 0; i < len(rest); {
		switch {
		case rest[i] == "--":
			return value, rest
		case rest[i] == name && i+1 < len(rest):
			value = rest[i+1]
			rest = slices.Delete(rest, i, i+2)
		case strings.HasPrefix(rest[i], name+"="):
			value = strings.TrimPrefix(rest[i], name+"=")
			rest = slices.Delete(rest, i, i+1)
		default:
			i++
		}
	}
	return value, rest
}

func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var p hooks.Payload
	if err := json.Unmarshal(payload, &p); err != nil {
		return turn.Event{}, err
	}
	e := p.Named(name)
	switch name {
	case forkStart:
		e = p.Named("SessionStart")
		if p.Source == turn.SourceResume {
			e.Source, e.Conversation, e.Transcript = turn.SourceFork, "", ""
		}
	case "UserPromptSubmit":
		e.Prompt, e.Type = pasted(p.Prompt), promptType(p.Prompt)
		e.Queued = e.Type == turn.TypeNotification // a prompt from a subagent, when a turn is open
	case "PermissionRequest":
		e.Child = false // a subagent's question, too, is for the user
	case "PostToolUse", "ElicitationResult":
		e = p.Event(turn.KindAnswered)
		e.Child = false
	case "Elicitation":
		e = p.Event(turn.KindInput)
		e.Message, e.Child = p.Server+": "+p.Message, false // a subagent's question, too, is for the user
	case "PreToolUse":
		await(p.TranscriptPath, p.PromptID)
		e = p.Event(turn.KindTool)
	case "Stop":
		await(p.TranscriptPath, p.PromptID)
		e.Again, e.Held = p.StopHookActive, p.StopHookActive || mayGoOn(p.TranscriptPath)
		for _, task := range p.BackgroundTasks {
			switch {
			case task.Type == "subagent" && (task.Status == "running" || task.Status == "pending"):
				e.Subagents++
			case task.Status == "running":
				e.Background++
			}
		}
		e.Subagents += reported(p.TranscriptPath)
	case "StopFailure":
		await(p.TranscriptPath, p.PromptID)
		if p.Error == "rate_limit" {
			e.Limit = limitIn(p.TranscriptPath, p.LastAssistantMessage)
		}
	}
	return e, nil
}

// How long the transcript may lag behind a hook: flush for the prompt, flushLimit for the error
// with the usage limit that ended the turn. claude writes on while the hook runs; on a busy machine
// that can take seconds.
const (
	flush      = 300 * time.Millisecond
	flushLimit = 10 * time.Second
)

// await waits until the transcript has a line of the turn id, or flush is over. In the first turn
// of a conversation the file may not exist yet.
func await(path, id string) {
	if id == "" || path == "" {
		return
	}
	poll.Until(context.Background(), poll.Tick, flush, func() bool {
		there := false
		err := records.LinesBack(path, func(raw []byte) bool {
			there = bytes.Contains(raw, []byte(id))
			return !there
		})
		return there || err != nil && !errors.Is(err, fs.ErrNotExist)
	})
}

// limitIn returns the usage limit of the newest error in a transcript whose text is words, nil for
// none. claude may write the error a moment after it has called the hook.
func limitIn(path, words string) (limit *turn.Limit) {
	poll.Until(context.Background(), poll.Tick, flushLimit, func() bool {
		var found turnLine
		_ = records.EachBack(path, func(line turnLine) bool {
			if !line.IsSidechain && (line.IsAPIErrorMessage || line.PromptSource != "") {
				found = line
			}
			return found.Type == ""
		})
		written := found.IsAPIErrorMessage && found.text() == words
		if written {
			limit = found.limit()
		}
		return written
	})
	return limit
}

// mayGoOn reports whether claude may have other Stop hooks than paw's, any of which can make it go
// on with the turn. claude writes their number after they have run: before the first such line, and
// without a file, mayGoOn returns true.
func mayGoOn(path string) bool {
	others := path != ""
	_ = records.EachBack(path, func(line turnLine) bool {
		counted := line.Subtype == "stop_hook_summary"
		others = !counted || line.HookCount > 1
		return !counted
	})
	return others
}
