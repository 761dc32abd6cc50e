package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli/internal/records"
	"paw/session/turn"
)

// turnLine has the fields of a transcript line that tell about turns, and where a conversation began.
type turnLine struct {
	Entrypoint        string          `json:"entrypoint"`
	Cwd               string          `json:"cwd"`
	Type              string          `json:"type"`
	Subtype           string          `json:"subtype"`
	PromptID          string          `json:"promptId"`
	PromptSource      string          `json:"promptSource"`                // typed, queued, or system (a prompt of claude to itself)
	Operation         string          `json:"operation"`                   // operation of a queue-operation line
	Content           json.RawMessage `json:"content"`                     // queued prompt of a queue-operation line
	HookCount         int             `json:"hookCount"`                   // number of hooks in a stop_hook_summary line
	Subagents         int             `json:"pendingBackgroundAgentCount"` // number of subagents that still work, in a turn_duration line
	Timestamp         time.Time       `json:"timestamp"`
	IsMeta            bool            `json:"isMeta"`
	IsSidechain       bool            `json:"isSidechain"`
	IsAPIErrorMessage bool            `json:"isApiErrorMessage"`
	Error             string          `json:"error"`
	APIError          string          `json:"apiError"` // since version 2.1.330
	QuotaLimits       struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"` // Unix time in seconds
	} `json:"quotaLimits"`
	Message struct {
		Content records.Parts `json:"content"`
	} `json:"message"`
}

// interrupted begins the line that claude writes in the user's name after an Esc or a denied
// permission.
const interrupted = "[Request interrupted by user"

// reportedWithin bounds how much later than its first lines the line of a prompt may come in the
// file. Additions of claude to a prompt follow it with earlier times.
const reportedWithin = 10 * time.Second

// toldTurns collects what a transcript tells about one turn, and about later turns that no hook has
// reported: claude 2.1.330 reports a queued prompt when it is typed, not when it begins.
type toldTurns struct {
	path, conversation, asked string // asked is the turn's prompt

	used  bool         // the transcript has an answer near the turn's begin or after it
	ended *turn.Event  // end of the requested turn
	later []turn.Event // begins and ends of later turns
	queue queue

	ids      []string // prompt ids of the turn that is being read
	own      bool     // the turn that is being read is the requested one
	found    bool     // the transcript has the turn's prompt
	waited   bool     // the turn's prompt was queued
	joined   string   // last queued prompt of the turn, until the model says something
	over     bool     // the transcript has the end of the turn
	answered bool     // the model has said something in the turn
	said     string   // last text of the model in the turn
}

// turns reads the transcript from the begin of the turn last. Where that turn is over, lines before
// its end count only for the queued prompts, and are skipped unless waiting asks for those.
func turns(path string, last *turn.Record, waiting bool) (*toldTurns, error) {
	from, over := last.StartedAt, time.Time{}
	if !records.IsOpen(last) && last.EndedAt != nil {
		over = *last.EndedAt
		if !waiting {
			from = over
		}
	}
	ids := append(slices.Clone(last.OlderIDs), last.TurnID)
	t := &toldTurns{path: path, conversation: last.Conversation, ids: ids, own: true, over: !records.IsOpen(last), asked: strings.TrimSpace(string(last.Prompt))}
	var lines []turnLine
	err := records.LinesBack(path, func(text []byte) bool {
		head := headOf(text)
		if head.at.IsZero() || head.sidechain {
			return true
		}
		t.used = t.used || head.answer
		mine := records.IsOpen(last) && head.promptID != "" && slices.Contains(ids, head.promptID)
		if !mine && head.at.Before(from) {
			return head.at.After(from.Add(-reportedWithin))
		}
		var line turnLine
		if json.Unmarshal(text, &line) == nil {
			lines = append(lines, line)
		}
		return true
	})
	for _, line := range slices.Backward(lines) {
		if line.Type == "queue-operation" || !line.Timestamp.Before(over) {
			t.read(line)
		}
	}
	return t, err
}

// lineHead has the fields that decide whether a line is decoded: lines can be long, and most are of
// older turns.
type lineHead struct {
	at                time.Time
	sidechain, answer bool
	promptID          string
}

func headOf(line []byte) (head lineHead) {
	whole := records.Members(line, func(key, value []byte) {
		switch string(key) {
		case "timestamp":
			_ = head.at.UnmarshalJSON(value) // stays zero
		case "isSidechain":
			head.sidechain = string(value) == "true"
		case "type":
			head.answer = string(value) == `"assistant"`
		case "promptId":
			head.promptID = string(bytes.Trim(value, `"`))
		}
	})
	if !whole {
		return lineHead{}
	}
	return head
}

func (t *toldTurns) read(line turnLine) {
	text := line.text()
	switch {
	case line.Type == "queue-operation":
		t.queue.take(line)
	case line.IsMeta:
	case line.Type == "system" && line.Subtype == "turn_duration":
		if t.answered && line.Subagents == 0 {
			t.end(line, turn.Event{Kind: turn.KindEnd, Message: t.said})
		}
	case line.Type == "user" && strings.HasPrefix(text, interrupted):
		// The line may come before or after the prompt that follows and carry that prompt's id:
		// then it marks the end of the turn before.
		early := slices.Contains(t.ids, line.PromptID) && !t.found
		if !early && (t.answered || !t.waited) {
			t.end(line, turn.Event{Kind: turn.KindInterrupt})
		}
	case line.Type == "user" && line.PromptSource != "":
		t.prompt(line, text)
	case line.Type == "assistant" && line.IsAPIErrorMessage:
		t.end(line, turn.Event{Kind: turn.KindError, Message: text, ErrorType: line.Error, Limit: line.limit()})
	case line.Type == "assistant":
		t.answered, t.joined = true, ""
		if text != "" {
			t.said = text
		}
	}
}

// queue has the prompts in claude's queue.
type queue []string

// take follows a queue-operation line.
func (q *queue) take(line turnLine) {
	switch line.Operation {
	case "enqueue":
		var prompt string
		_ = json.Unmarshal(line.Content, &prompt) // content that is no string is no report
		*q = append(*q, prompt)
	case "dequeue", "remove":
		*q = (*q)[min(1, len(*q)):]
	default: // the user took all queued prompts back, or paw does not know the operation
		*q = nil
	}
}

// prompt reads a prompt that began a turn. claude answers several queued prompts as one.
func (t *toldTurns) prompt(line turnLine, text string) {
	waited := line.PromptSource == "queued" || line.PromptSource == "system"
	known := line.PromptID != "" && slices.Contains(t.ids, line.PromptID)
	switch {
	case waited && t.own && !t.found && t.ids[len(t.ids)-1] == "" && t.asked == strings.TrimSpace(text): // no hook has told its id
		t.ids, t.found, t.waited = append(t.ids, line.PromptID), true, true
	case known:
		t.found, t.waited = true, t.waited || waited
	case waited && !t.over && !t.answered && t.waited:
		t.ids, t.waited = append(t.ids, line.PromptID), true
		t.later = append(t.later, t.event(line, turn.Event{Kind: turn.KindPrompt, Prompt: text, Queued: true}))
	default:
		if waited || t.waited && !t.own {
			t.end(line, turn.Event{Kind: turn.KindInterrupt}) // does nothing when the turn's end was read
		}
		t.begin(line, text, waited)
	}
	if t.joined = ""; waited && t.own && !t.answered {
		t.joined = text
	}
}

// begin starts a later turn. Only a queued prompt becomes an event: others have a hook of their
// own.
func (t *toldTurns) begin(line turnLine, text string, waited bool) {
	t.ids, t.own, t.found, t.waited, t.over, t.answered, t.said = []string{line.PromptID}, false, true, waited, !waited, false, ""
	if waited {
		began := turn.Event{Kind: turn.KindPrompt, Type: promptType(text), Prompt: text, Follows: true}
		began.Queued = began.Type == turn.TypeNotification
		t.later = append(t.later, t.event(line, began))
	}
}

// end records the end of the turn that is being read.
func (t *toldTurns) end(line turnLine, e turn.Event) {
	if t.over {
		return
	}
	t.over, t.joined = true, ""
	if e = t.event(line, e); t.own {
		t.ended = &e
		return
	}
	t.later = append(t.later, e)
}

func (t *toldTurns) event(line turnLine, e turn.Event) turn.Event {
	e.At, e.Conversation, e.Transcript, e.TurnID = line.Timestamp, t.conversation, t.path, t.ids[len(t.ids)-1]
	return e
}

// limit returns the usage limit of a subscription that an error is about, nil for other errors. A
// rate limit of a key and an overloaded server have the same status, but no apiError
// usage_limit_reached.
func (l turnLine) limit() *turn.Limit {
	switch {
	case !l.IsAPIErrorMessage || l.APIError != "usage_limit_reached":
		return nil
	case l.QuotaLimits.Status != "rejected" || l.QuotaLimits.ResetsAt <= 0:
		return &turn.Limit{}
	}
	return &turn.Limit{Until: time.Unix(l.QuotaLimits.ResetsAt, 0)}
}

// message matches a message from another session of claude on this machine, with claude's
// introduction.
var message = lazyregexp.New(`^(?:(?:Another Claude|A peer) session sent a message[^\n]*:\s*)?<cross-session-message\b`)

// promptType returns the type of the turn that a prompt begins, "" for a prompt of the user.
func promptType(prompt string) turn.Type {
	switch {
	case strings.HasPrefix(prompt, "<task-notification>"), strings.HasPrefix(prompt, "Your claude.ai usage limit has reset."):
		return turn.TypeNotification // claude prompts itself when a background task has ended, or a limit
	case message().MatchString(prompt), strings.HasPrefix(prompt, "[Cross-session delivery notice]"):
		return turn.TypeMessage
	}
	return ""
}

func (l turnLine) text() (text string) {
	for _, block := range l.Message.Content {
		if block.Type == "text" {
			text += block.Text
		}
	}
	return text
}

// subagentFiles returns the folder with the transcripts of a conversation's subagents.
func subagentFiles(transcript string) string {
	return filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "subagents")
}

// taskID matches the prompt that claude gives itself when a task has ended, and captures the task's
// id.
var taskID = lazyregexp.New(`^<task-notification>\s*<task-id>(\w+)</task-id>`)

// reported counts the ended subagents whose reports wait in claude's queue: claude goes on with the
// turn for each. They are no longer listed as tasks.
func reported(transcript string) int {
	var operations []turnLine
	_ = records.EachBack(transcript, func(line turnLine) bool {
		if line.Type == "queue-operation" {
			operations = append(operations, line)
		}
		return line.PromptSource != "typed" // the queue is empty when claude takes a typed prompt at once
	})
	var waiting queue
	for _, line := range slices.Backward(operations) {
		waiting.take(line)
	}
	n := 0
	for _, prompt := range waiting {
		task := taskID().FindStringSubmatch(prompt)
		if task == nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(subagentFiles(transcript), "agent-"+task[1]+".jsonl")); !errors.Is(err, fs.ErrNotExist) {
			n++
		}
	}
	return n
}

// reportsAfter is how long claude may be idle after its last subagent: claude prompts itself at the
// end of each, also of one that the user has stopped.
const reportsAfter = 30 * time.Second

// reports reports whether claude is about to go on with the open turn, because subagents still
// worked for it when claude answered.
func reports(entry registryEntry, last *turn.Record) bool {
	return records.IsOpen(last) && last.Held != nil && last.Held.Subagents > 0 && time.Since(entry.since()) < reportsAfter
}
