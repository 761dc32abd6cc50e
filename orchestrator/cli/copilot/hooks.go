package copilot

import (
	"bytes"
	"cmp"
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
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/records"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// hookEvents lists the events that paw listens to, none of them for tools. permissionRequest is
// also called for permissions that need no question; notification comes with the dialog.
// errorOccurred does not tell the last attempt from earlier ones.
var hookEvents = []string{"sessionStart", "userPromptSubmitted", "notification", "agentStop", "sessionEnd"}

// command returns a launch with an option for the conversation, which loads a plugin with paw's hooks.
func (c driver) command(s cli.Spec, option string) cli.Command {
	argv := []string{s.Executable, option}
	if s.Hook == "" {
		return cli.Command{Argv: append(argv, s.Args...)}
	}
	type hook struct {
		Type       string `json:"type"`
		Bash       string `json:"bash"`
		TimeoutSec int    `json:"timeoutSec"`
	}
	byEvent := map[string][]hook{}
	for _, event := range hookEvents {
		byEvent[event] = []hook{{Type: "command", Bash: hooks.Command(s, c.Name(), event), TimeoutSec: hooks.PatienceFor(event, "userPromptSubmitted", "agentStop")}}
	}
	content := hooks.JSON(map[string]any{"version": 1, "hooks": byEvent})
	dir := filepath.Join(s.StateDir, "copilot-plugin")
	return cli.Command{Argv: slices.Concat(argv, []string{"--plugin-dir", dir}, s.Args), Files: []cli.File{
		{Path: filepath.Join(dir, "plugin.json"), Content: []byte(`{"name":"paw","hooks":"hooks.json"}` + "\n")},
		{Path: filepath.Join(dir, "hooks.json"), Content: append(content, '\n')},
	}}
}

type hookPayload struct {
	SessionID        string `json:"sessionId"`
	TranscriptPath   string `json:"transcriptPath"`
	Cwd              string `json:"cwd"`
	Source           string `json:"source"`
	Reason           string `json:"reason"`
	Prompt           string `json:"prompt"`
	Message          string `json:"message"`
	NotificationType string `json:"notification_type"`
	Timestamp        int64  `json:"timestamp"` // Unix time in milliseconds
	AgentID          string `json:"agentId"`   // set for a subagent, whose prompt and end have a session id of their own
}

func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var p hookPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return turn.Event{}, err
	}
	e := turn.Event{Conversation: p.SessionID, Transcript: p.TranscriptPath, Folder: p.Cwd}
	switch {
	case name == "sessionStart":
		e.Kind, e.Source = turn.KindSessionStart, p.Source
		if p.Source == "new" {
			e.Source = turn.SourceStartup
		}
	case name == "userPromptSubmitted":
		e.Kind, e.Prompt, e.Child = turn.KindPrompt, typed(p.SessionID, p.Prompt), p.AgentID != ""
		if strings.HasPrefix(p.Prompt, "<system_notification>") {
			e.Type = turn.TypeNotification // copilot prompts itself when a background command has ended
		}
	case name == "notification" && p.NotificationType == "permission_prompt":
		e.Kind, e.Message = turn.KindInput, questions.Title(p.Message)
	case name == "agentStop" && p.AgentID != "":
		e.Kind, e.Child = turn.KindEnd, true
	case name == "agentStop":
		e.Kind, e.Message = turn.KindEnd, p.answer()
	case name == "sessionEnd":
		e.Kind, e.Source = turn.KindSessionEnd, p.Reason
	}
	return e, nil
}

// rewinds reports whether copilot has taken something off the record just before.
func (l event) rewinds() bool {
	return len(l.Data.Caches) > 0 && slices.Contains(l.Data.Caches[0].Rewrites, "rewind")
}

// flush is how long the record may lag behind a hook: copilot writes it every 100 ms.
const flush = 500 * time.Millisecond

// answer returns copilot's last words before the end of the turn, "" where they cannot be found:
// the hook's payload has no answer. At the end of the first turn the record may not exist yet; that
// is treated like a record that lags behind.
func (p hookPayload) answer() (answer string) {
	poll.Until(context.Background(), poll.Tick, flush, func() bool {
		var written bool
		var err error
		answer, written, err = lastAnswer(p.TranscriptPath, time.UnixMilli(p.Timestamp))
		return written || err != nil && !errors.Is(err, fs.ErrNotExist)
	})
	return answer
}

// lastAnswer returns copilot's last words before it called the hook agentStop at the time at.
// written reports whether the record has that call yet: before, the newest words may belong to an
// earlier turn.
func lastAnswer(path string, at time.Time) (answer string, written bool, err error) {
	err = records.EachBack(path, func(line event) bool {
		if !written {
			written = line.Type == "hook.start" && line.Data.HookType == "agentStop" && !line.Timestamp.Before(at)
			return written || !line.Timestamp.Before(at)
		}
		if line.Type == "assistant.message" {
			answer = line.Data.Content
		}
		return answer == "" && line.Type != "user.message"
	})
	return answer, written, err
}

// Observe reads the end of the record of events: an Esc and an API error are recorded only there.
func (c driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	file := c.file(s)
	seen := cli.Observed{Folder: c.folder(s)}
	if !records.IsOpen(last) {
		return seen, nil
	}
	granted, open, closed := false, false, map[string]bool{} // state of the permission requests of this turn
	taken := true                                            // the turn is off the record: nothing but a rewind came since
	err := records.EachBack(file, func(line event) bool {
		if line.Timestamp.IsZero() {
			return true
		}
		if line.Timestamp.Before(last.StartedAt) {
			return false
		}
		if !seen.Known {
			seen.Known, seen.Busy, seen.At, seen.Source = true, true, line.Timestamp, session.SourceTranscript
		}
		e := turn.Event{Conversation: s.ConversationID, Transcript: file}
		taken = taken && line.rewinds()
		switch line.Type {
		case "permission.requested":
			open = open || !closed[line.Data.RequestID]
			return true
		case "permission.completed":
			closed[line.Data.RequestID] = true
			granted = granted || last.WaitingSince != nil && line.Timestamp.After(*last.WaitingSince)
			return true
		case "abort":
			e.Kind = turn.KindInterrupt
		case "session.error":
			e.Kind, e.ErrorType, e.Message = turn.KindError, line.Data.ErrorType, line.Data.Message
		default:
			return true
		}
		seen.Busy, seen.Ended, seen.At = false, &e, line.Timestamp
		return false
	})
	if taken && seen.Busy { // Esc twice before the first word of the answer: the prompt is in the box again
		seen.Busy, seen.Ended = false, &turn.Event{Conversation: s.ConversationID, Transcript: file, Kind: turn.KindInterrupt}
	}
	if seen.Busy && last.Waiting && (open || !granted) {
		seen.Busy, seen.Waiting, seen.Question = false, true, last.Question
	}
	return seen, err
}

// folder returns where the conversation on the screen works.
func (c driver) folder(s cli.Spec) string {
	content, _ := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(c.file(s))), c.shown(s), "workspace.yaml"))
	_, after, _ := strings.Cut(string(content), "\ncwd: ")
	after, _, _ = strings.Cut(after, "\n")
	return strings.Trim(after, `'"`)
}

// shown returns the conversation on the screen of the copilot that has the agent's open. /new worktree and /fork worktree open
// another one in it, which no hook reports before its first prompt; only copilot's log tells which one is shown.
func (c driver) shown(s cli.Spec) string {
	id, folder := s.ConversationID, filepath.Dir(c.file(s))
	pid := c.HeldBy(s)
	open, _ := filepath.Glob(filepath.Join(cli.GlobQuote(filepath.Dir(folder)), "*", fmt.Sprintf("inuse.%d.hold", pid)))
	if pid == 0 || len(open) < 2 {
		return id
	}
	logs, _ := filepath.Glob(filepath.Join(cli.GlobQuote(cli.Folder(s.Env, "COPILOT_HOME", ".copilot")), "logs", fmt.Sprintf("process-*-%d.log", pid)))
	for _, log := range logs {
		_ = records.LinesBack(log, func(line []byte) bool {
			_, after, found := bytes.Cut(line, []byte("Registering foreground session: "))
			if found {
				id = string(bytes.TrimSpace(after))
			}
			return !found
		})
	}
	return id
}

// History reads the file of events. copilot deletes from it what a rewind takes back.
func (c driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	begun, all, err := records.ReadTalk[event](ctx, c, s)
	t := talk{Talk: begun, answered: map[string]bool{}}
	for _, e := range all {
		t.add(e)
	}
	return t.Transcript, err
}

// event is a line of the record.
type event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	AgentID   string    `json:"agentId"` // set for events of a subagent
	Data      struct {
		Content   string `json:"content"`
		Source    string `json:"source"` // set for a prompt that the user did not type
		ErrorType string `json:"errorType"`
		Message   string `json:"message"`
		HookType  string `json:"hookType"`
		RequestID string `json:"requestId"`
		Caches    []struct {
			Rewrites []string `json:"pendingRewriteSources"`
		} `json:"promptCacheBreakState"`
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

func (t *talk) add(e event) {
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
