package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"paw/session"
	"paw/session/turn"
)

// claudeSettled is how long an idle claude without a word in the transcript counts as still on its way: between two
// queued prompts the registry says idle for a moment.
const claudeSettled = 2 * time.Second

// Observe reads claude's registry of running processes, the one prompt sign of an Esc or a denied permission, and the
// end of the transcript for how a turn ended. An Esc before the first word of the answer leaves nothing in the
// transcript: then being idle is the sign.
func (c claude) Observe(ctx context.Context, s Spec, last *turn.Record) (Observed, error) {
	s = observedSpec(s, last)
	if s.ConversationID == "" {
		return Observed{}, nil
	}
	entry, ok := claudeProcess(s)
	seen := Observed{Known: ok, At: entry.since(), Source: session.SourceRecord}
	switch entry.Status {
	case "busy":
		seen.Busy = true
		return seen, nil
	case "waiting":
		seen.Waiting, seen.Question = true, entry.WaitingFor
		if isOpen(last) && last.Waiting && last.Question != "" {
			seen.Question = last.Question
		}
		return seen, nil
	}
	if !isOpen(last) || ok && entry.since().Before(last.StartedAt) {
		// A registry that is older than the turn says nothing about it.
		seen.Known = ok && !isOpen(last)
		return seen, nil
	}
	found, err := c.Conversation(ctx, s)
	if err != nil {
		return Observed{}, err
	}
	var ended *turn.Event
	var at time.Time
	if found.Transcript != "" {
		if ended, at, err = claudeEnd(found.Transcript, last); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Observed{}, err
		}
	}
	switch {
	case ended != nil:
		return Observed{Known: true, Ended: ended, At: at, Source: session.SourceTranscript}, nil
	case !ok || time.Since(seen.At) < claudeSettled:
		return Observed{}, nil
	}
	seen.Ended = &turn.Event{
		Kind: turn.KindInterrupt, Conversation: s.ConversationID, TurnID: last.TurnID, Message: "claude is idle without an answer",
	}
	return seen, nil
}

// claudeEntry is a file of the registry, sessions/PID.json. claude deletes it when it ends in peace.
type claudeEntry struct {
	PID             int    `json:"pid"`
	SessionID       string `json:"sessionId"`
	Status          string `json:"status"` // idle, busy, waiting, or shell: idle with a background shell
	WaitingFor      string `json:"waitingFor"`
	StatusUpdatedAt int64  `json:"statusUpdatedAt"` // milliseconds since 1970
}

func (e claudeEntry) since() time.Time {
	if e.StatusUpdatedAt == 0 {
		return time.Time{}
	}
	return time.UnixMilli(e.StatusUpdatedAt)
}

// claudeProcess finds the entry of the living process that has the conversation open, the newest of several.
func claudeProcess(s Spec) (claudeEntry, bool) {
	var newest claudeEntry
	files, _ := filepath.Glob(filepath.Join(globQuote(folder(s.Env, "CLAUDE_CONFIG_DIR", ".claude")), "sessions", "*.json"))
	for _, file := range files {
		var entry claudeEntry
		content, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(content, &entry) != nil {
			continue
		}
		if entry.SessionID == s.ConversationID && entry.Status != "" && entry.StatusUpdatedAt >= newest.StatusUpdatedAt && isAlive(entry.PID) {
			newest = entry
		}
	}
	return newest, newest.PID != 0
}

// isAlive tells whether a process of this number exists.
func isAlive(pid int) bool {
	return pid > 0 && !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// claudeTail is what a line of the transcript says about the end of a turn.
type claudeTail struct {
	Type              string    `json:"type"`
	Subtype           string    `json:"subtype"`
	PromptID          string    `json:"promptId"`
	Timestamp         time.Time `json:"timestamp"`
	IsMeta            bool      `json:"isMeta"`
	IsSidechain       bool      `json:"isSidechain"`
	IsAPIErrorMessage bool      `json:"isApiErrorMessage"`
	Error             string    `json:"error"`
	Message           struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// claudeInterrupted begins what claude writes in the user's name after an Esc or a denied permission.
const claudeInterrupted = "[Request interrupted by user"

// claudeEnd reads a transcript from its end to the begin of the turn. A turn ends with the mark of an interrupt, with an
// error message of claude's own, or with the line that tells how long it took.
func claudeEnd(path string, last *turn.Record) (*turn.Event, time.Time, error) {
	var ended *turn.Event
	var at time.Time
	took := false
	end := func(kind turn.Kind, line claudeTail) bool {
		ended = &turn.Event{
			Kind: kind, Conversation: last.Conversation, TurnID: last.TurnID, Transcript: path, Message: line.text(), ErrorType: line.Error,
		}
		if at.IsZero() {
			at = line.Timestamp
		}
		return false
	}
	err := linesBack(path, func(raw []byte) bool {
		var line claudeTail
		if json.Unmarshal(raw, &line) != nil || line.Timestamp.IsZero() || line.IsSidechain || line.IsMeta {
			return true
		}
		own := last.TurnID != "" && line.PromptID == last.TurnID
		if !own && line.Timestamp.Before(last.StartedAt) {
			return false
		}
		switch {
		case line.Type == "system" && line.Subtype == "turn_duration":
			took, at = true, line.Timestamp
			return true
		case line.Type == "user" && strings.HasPrefix(line.text(), claudeInterrupted):
			line.Message.Content = nil
			return end(turn.KindInterrupt, line)
		case line.Type == "assistant" && line.IsAPIErrorMessage:
			return end(turn.KindError, line)
		case line.Type == "assistant" && took:
			return end(turn.KindEnd, line)
		case line.Type == "assistant", line.Type == "user":
			return false
		}
		return true
	})
	return ended, at, err
}

// text is the content of a message as far as it is text.
func (l claudeTail) text() string {
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
