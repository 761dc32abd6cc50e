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

// hookEvents are the events that paw listens to, with their matchers.
//
// None of paw's processes runs at ordinary tool calls, unless a prompt waits (see QueuedMark): each would cost time. So
// that a permission was granted is not reported; until the turn goes on to its end, the registry says whether claude still
// waits (see Observe). Tools that always ask the user are rare, and their end is the answer.
var hookEvents = []string{
	"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse:AskUserQuestion|ExitPlanMode",
	"Elicitation", "ElicitationResult", "Stop", "StopFailure", "SessionEnd",
}

// forkStart is the SessionStart of a fork. It has the id of the conversation that is copied; that of the copy comes
// with its first prompt.
const forkStart = "ForkStart"

// withHooks adds paw's hooks to the arguments of a launch. claude adds those of --settings to the user's and the
// project's own; of several --settings it takes one, hence what the arguments have of that becomes part of paw's.
func (c driver) withHooks(s cli.Spec, args []string, fork bool) ([]string, []cli.File, error) {
	if s.Hook == "" {
		return args, nil, nil
	}
	given, args := takeOption(args, "--settings")
	settings, err := givenSettings(s, given)
	if err == nil {
		err = hooks.Add(settings, hooks.Groups(hookEvents, func(event string) hooks.Entry {
			name := event
			if fork && event == "SessionStart" {
				name = forkStart
			}
			command := hooks.Command(s, c.Name(), name)
			if event == "PreToolUse" {
				command = hooks.WhenQueued(s, command)
			}
			return hooks.Entry{Type: "command", Command: command, Timeout: hooks.PatienceFor(event, "UserPromptSubmit", "PreToolUse", "Stop", "StopFailure")}
		}))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("claude: --settings: %w", err)
	}
	withStatusLine(s, c.Name(), settings)
	if _, said := settings[keepInPane]; !said {
		settings[keepInPane] = hooks.JSON(true)
	}
	file := cli.File{Path: filepath.Join(s.StateDir, "claude-settings.json"), Content: append(hooks.JSON(settings), '\n')}
	return append([]string{"--settings", file.Path}, args...), []cli.File{file}, nil
}

// givenSettings reads what the user gave to --settings, a file or JSON itself; "" is nothing.
func givenSettings(s cli.Spec, given string) (map[string]json.RawMessage, error) {
	settings := map[string]json.RawMessage{}
	content := []byte(given)
	switch {
	case given == "":
		return settings, nil
	case !strings.HasPrefix(strings.TrimSpace(given), "{"):
		if !filepath.IsAbs(given) {
			given = filepath.Join(s.Worktree, given)
		}
		var err error
		if content, err = os.ReadFile(given); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(content, &settings); err != nil {
		return nil, err
	}
	if settings == nil {
		return nil, errors.New("null is no object")
	}
	return settings, nil
}

// takeOption removes an option with its value, in either form, and returns the value that counts, the last.
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
		e.Queued = e.Type == turn.TypeNotification // of a subagent where a turn is open
	case "PermissionRequest":
		e.Child = false // the user has to answer a subagent's question, too
	case "PostToolUse":
		e = p.Event(turn.KindAnswered)
		e.Child = false
	case "Elicitation":
		e = p.Event(turn.KindInput)
		e.Message, e.Child = p.Server+": "+p.Message, false // of a subagent, too
	case "ElicitationResult":
		e = p.Event(turn.KindAnswered)
		e.Child = false
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

// How long after a hook the transcript may not have what the hook is about: the prompt, and the error with the limit that ended the
// turn. claude goes on writing while the hook runs, and takes seconds for it where many programs run.
const (
	flush      = 300 * time.Millisecond
	flushLimit = 10 * time.Second
)

// await waits until the transcript has a line of the turn, which may have begun without a hook. In the first turn of
// a conversation the file may not be there yet.
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

// limitIn is the usage limit that the newest error in a transcript is about, which has those words; nil for none. claude may
// write it down a moment after it has called the hook.
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

// mayGoOn tells whether claude has other hooks for the end of a turn than paw's, any of which may send it on. It
// writes down how many there were after they have run; before the first of them, and without the file, nobody knows.
func mayGoOn(path string) bool {
	others := path != ""
	_ = records.EachBack(path, func(line turnLine) bool {
		counted := line.Subtype == "stop_hook_summary"
		others = !counted || line.HookCount > 1
		return !counted
	})
	return others
}
