package claude

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli/internal/records"
	"paw/session/turn"
)

// turnLine is what a line of the transcript says about turns.
type turnLine struct {
	Type              string          `json:"type"`
	Subtype           string          `json:"subtype"`
	PromptID          string          `json:"promptId"`
	PromptSource      string          `json:"promptSource"`                // typed, queued, or system: claude prompts itself
	Operation         string          `json:"operation"`                   // on the queue of prompts
	Content           json.RawMessage `json:"content"`                     // that waits in that queue
	HookCount         int             `json:"hookCount"`                   // of a stop_hook_summary
	Subagents         int             `json:"pendingBackgroundAgentCount"` // that work on, of a turn_duration
	Timestamp         time.Time       `json:"timestamp"`
	IsMeta            bool            `json:"isMeta"`
	IsSidechain       bool            `json:"isSidechain"`
	IsAPIErrorMessage bool            `json:"isApiErrorMessage"`
	Error             string          `json:"error"`
	APIError          string          `json:"apiError"` // of version 2.1.330 and later
	QuotaLimits       struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"` // seconds since 1970
	} `json:"quotaLimits"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// interrupted begins what claude writes in the user's name after an Esc or a denied permission.
const interrupted = "[Request interrupted by user"

// reportedWithin is how much later than its lines a prompt may be reported. Those of what claude adds to it come behind
// its own, with earlier times.
const reportedWithin = 10 * time.Second

// toldTurns is what a transcript tells of a turn, and of the turns behind it that no hook has reported. Claude 2.1.330
// reports a prompt that waits when it is typed, and not when it begins to work on it.
type toldTurns struct {
	path, conversation string

	ended *turn.Event  // of the turn that was asked about
	later []turn.Event // what began behind it, and how that ended
	wait  int          // prompts that still wait

	ids      []string // of the turn that the lines are about now
	own      bool     // it is the one that was asked about
	found    bool     // its prompt has a line
	waited   bool     // its prompt waited before
	joined   string   // the last prompt of it that did
	over     bool     // its end was read
	answered bool     // the model has said something in it
	said     string   // what it said last
}

// turns reads the transcript from the begin of the turn last. If that is over, what was before its end counts only
// for the prompts that wait; without waiting they are not asked about, and the lines from the end on are enough.
func turns(path string, last *turn.Record, waiting bool) (*toldTurns, error) {
	from, over := last.StartedAt, time.Time{}
	if !records.IsOpen(last) && last.EndedAt != nil {
		over = *last.EndedAt
		if !waiting {
			from = over
		}
	}
	ids := append(slices.Clone(last.OlderIDs), last.TurnID)
	var lines []turnLine
	err := records.EachBack(path, func(line turnLine) bool {
		if line.Timestamp.IsZero() || line.IsSidechain {
			return true
		}
		mine := records.IsOpen(last) && line.PromptID != "" && slices.Contains(ids, line.PromptID)
		if !mine && line.Timestamp.Before(from) {
			return line.Timestamp.After(from.Add(-reportedWithin))
		}
		lines = append(lines, line)
		return true
	})
	t := &toldTurns{path: path, conversation: last.Conversation, ids: ids, own: true, over: !records.IsOpen(last)}
	for _, line := range slices.Backward(lines) {
		if line.Type == "queue-operation" || !line.Timestamp.Before(over) {
			t.read(line)
		}
	}
	return t, err
}

func (t *toldTurns) read(line turnLine) {
	text := line.text()
	switch {
	case line.Type == "queue-operation":
		t.queue(line.Operation)
	case line.IsMeta:
	case line.Type == "system" && line.Subtype == "turn_duration":
		if t.answered && line.Subagents == 0 {
			t.end(line, turn.Event{Kind: turn.KindEnd, Message: t.said})
		}
	case line.Type == "user" && strings.HasPrefix(text, interrupted):
		// It can stand around the prompt that follows, and have the id of that: then it is the mark of the turn before.
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

// queue counts the prompts that wait.
func (t *toldTurns) queue(operation string) {
	switch operation {
	case "enqueue":
		t.wait++
	case "dequeue", "remove":
		t.wait = max(0, t.wait-1)
	default: // the user took all of them back, or something that paw does not know
		t.wait = 0
	}
}

// prompt takes a prompt that began a turn. Several that waited are answered as one.
func (t *toldTurns) prompt(line turnLine, text string) {
	waited := line.PromptSource == "queued" || line.PromptSource == "system"
	known := line.PromptID != "" && slices.Contains(t.ids, line.PromptID)
	// Older versions report each of them with an id of its own, and write down the last id with all of them.
	lost := t.own && !t.found && t.ids[len(t.ids)-1] != ""
	switch {
	case known:
		t.found, t.waited = true, t.waited || waited
	case waited && !t.over && !t.answered && (t.waited || lost):
		t.ids, t.waited = append(t.ids, line.PromptID), true
		t.later = append(t.later, t.event(line, turn.Event{Kind: turn.KindPrompt, Prompt: text, Queued: true}))
	default:
		if waited || t.waited && !t.own {
			t.end(line, turn.Event{Kind: turn.KindInterrupt}) // unless its end was read
		}
		t.begin(line, text, waited)
	}
	if t.joined = ""; waited && t.own && !t.answered {
		t.joined = text
	}
}

// begin takes a turn behind the one that was asked about. A prompt that did not wait has a hook of its own.
func (t *toldTurns) begin(line turnLine, text string, waited bool) {
	t.ids, t.own, t.found, t.waited, t.over, t.answered, t.said = []string{line.PromptID}, false, true, waited, !waited, false, ""
	if waited {
		began := turn.Event{Kind: turn.KindPrompt, Type: promptType(text), Prompt: text, Follows: true}
		began.Queued = began.Type == turn.TypeNotification
		t.later = append(t.later, t.event(line, began))
	}
}

// end takes the end of the turn that the lines are about.
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

// limit is the usage limit of a subscription that an error is about, nil for all others: a key that is used too fast, or
// a server that is too busy, has the same status and no such word.
func (l turnLine) limit() *turn.Limit {
	switch {
	case !l.IsAPIErrorMessage || l.APIError != "usage_limit_reached":
		return nil
	case l.QuotaLimits.Status != "rejected" || l.QuotaLimits.ResetsAt <= 0:
		return &turn.Limit{}
	}
	return &turn.Limit{Until: time.Unix(l.QuotaLimits.ResetsAt, 0)}
}

// message is what another session of claude on this machine sent, with the words that claude puts before it.
var message = lazyregexp.New(`^(?:(?:Another Claude|A peer) session sent a message[^\n]*:\s*)?<cross-session-message\b`)

// promptType is the type of the turn that a prompt begins.
func promptType(prompt string) turn.Type {
	switch {
	case strings.HasPrefix(prompt, "<task-notification>"):
		return turn.TypeNotification // claude prompts itself when a background task has ended
	case message.MatchString(prompt):
		return turn.TypeMessage
	}
	return ""
}

// text is the content of a message as far as it is text.
func (l turnLine) text() string {
	var text string
	if json.Unmarshal(l.Message.Content, &text) == nil {
		return text
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(l.Message.Content, &blocks)
	for _, block := range blocks {
		if block.Type == "text" {
			text += block.Text
		}
	}
	return text
}
