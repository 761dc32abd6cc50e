package qwen

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
	"paw/session"
	"paw/session/turn"
)

// hookEvents lists the events that paw listens to, with their matchers; none is called for tools.
// An Esc has no event of its own: it shows as the notification idle_prompt, which also comes after
// an answer and an error.
var hookEvents = []string{
	"SessionStart", "UserPromptSubmit", "PermissionRequest", "Notification:idle_prompt", "Stop", "StopFailure", "SessionEnd",
}

func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var p struct {
		hooks.Payload
		At time.Time `json:"timestamp"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return turn.Event{}, err
	}
	e := p.Named(name)
	switch {
	case name == "UserPromptSubmit": // also called with an empty prompt after each result of a tool
		e.Prompt, e.Queued = strings.CutPrefix(prompts.OwnWords(p.Prompt), joinedMark)
		if e.Queued {
			e.Prompt = strings.ReplaceAll(e.Prompt, joinedMark, "\n")
		}
		e.At = begins(p.At, time.Now())
	case name == "Notification" && p.NotificationType == "idle_prompt":
		e = p.Event(turn.KindIdle)
		e.At = p.At
	case name == "Stop":
		for _, task := range p.BackgroundTasks {
			if task.Status == "running" {
				e.Subagents++
			}
		}
	case name == "StopFailure":
		e.Message = cmp.Or(p.ErrorDetails, e.Message)
	}
	return e, nil
}

// longestStart is how long qwen's hooks usually take to start at most.
const longestStart = time.Second

// begins returns when a turn begins, from the time at which qwen called the hook. That time alone
// may be older than the notification that ended the turn before. The time at which the hook runs
// alone may be, on a slow machine, newer than the notification after an Esc.
func begins(called, now time.Time) time.Time {
	if called.IsZero() || now.Sub(called) < longestStart {
		return now
	}
	return called.Add(longestStart)
}

// joinedMark precedes a prompt that was typed while a tool ran; qwen sends it to the model with the
// tool's result.
const joinedMark = "\n[User message received during tool execution]: "

// Observe reads the end of the chat file, where a request that an Esc cut off is recorded as an
// error, and the last notification that qwen is idle.
func (q driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	if !records.IsOpen(last) {
		return cli.Observed{}, nil
	}
	file := q.file(s)
	var seen cli.Observed
	err := records.EachBack(file, func(line record) bool {
		if line.Timestamp.IsZero() {
			return true
		}
		if line.Timestamp.Before(last.StartedAt) {
			return false
		}
		seen = cli.Observed{Known: true, Busy: true, At: line.Timestamp, Source: session.SourceTranscript}
		if line.aborted() {
			seen.Busy = false
			seen.Ended = &turn.Event{Kind: turn.KindInterrupt, Conversation: s.ConversationID, Transcript: file}
		}
		if last.Waiting && last.WaitingSince != nil && !line.Timestamp.After(*last.WaitingSince) && !channelOf(s).answered(last.Question) {
			seen.Busy, seen.Waiting, seen.Question, seen.At = false, true, last.Question, *last.WaitingSince
		}
		return false
	})
	if ended := endUnheard(s, file, last, time.Now()); ended != nil && seen.Ended == nil {
		return cli.Observed{Known: true, Ended: ended, At: ended.At, Source: session.SourceTranscript}, nil
	}
	return seen, err
}

// idleName is a file with the last notification that qwen waits for a prompt.
const idleName = "qwen-idle.json"

// How long the record, or the hook of an answer, may lag behind the notification. If the record has
// words of the model, only the end of their response can still be missing, which is written
// together with them.
const (
	flush      = 2 * time.Second
	flushWords = 200 * time.Millisecond
)

// idle is a notification.
type idle struct {
	Conversation string    `json:"conversation"`
	At           time.Time `json:"at"`
}

// Rests stores a notification for Observe.
func (driver) Rests(s cli.Spec, e turn.Event) error {
	return os.WriteFile(filepath.Join(s.StateDir, idleName), hooks.JSON(idle{e.Conversation, e.At}), 0o600)
}

// endUnheard returns the end of the open turn last, if qwen waits for a prompt since the turn began
// and the record has had time to tell how the turn ended. An Esc has no hook of its own; an answer
// has one, unless an Esc stops that hook or keeps qwen from calling it.
func endUnheard(s cli.Spec, chat string, last *turn.Record, now time.Time) *turn.Event {
	var seen idle
	data, err := os.ReadFile(filepath.Join(s.StateDir, idleName))
	if err != nil || json.Unmarshal(data, &seen) != nil || seen.Conversation != s.ConversationID || !seen.At.After(last.StartedAt) {
		return nil
	}
	began, helped := last.StartedAt, last.Held != nil && last.Held.Subagents > 0
	if helped {
		began = last.Held.At
	}
	e, lag, told := ending(chat, began)
	if helped && !told {
		return nil // its subagents work, and nothing has prompted qwen since
	}
	if waited := now.Sub(seen.At); waited < lag && waited >= 0 { // below 0 the clock was set back
		return nil
	}
	e.Conversation, e.Transcript, e.At = s.ConversationID, chat, seen.At
	return &e
}

// ending reads the record back to the newest prompt or tool result of a turn, without the lines from
// before the turn began: qwen writes late where disks are slow, and the newest line may be the
// answer to an earlier prompt. An abort is final; otherwise the last line counts, since errors are
// retried. Words of the model are an answer only if the API completed the response: words that an
// Esc cut off are recorded as well. ending returns the end that the record tells, an interrupt where
// it tells none, and for how long that may still change; told is false where the record has neither
// an end nor words of the model.
func ending(path string, began time.Time) (e turn.Event, lag time.Duration, told bool) {
	said, answer, began := false, "", began.Truncate(time.Millisecond)
	end := func(kind turn.Kind, message string, within time.Duration) {
		e, lag, told = turn.Event{Kind: kind, Message: message}, within, true
	}
	_ = records.EachBack(path, func(line record) bool {
		if !line.Timestamp.IsZero() && line.Timestamp.Before(began) {
			return false
		}
		switch event := line.Payload.Event; {
		case line.aborted():
			end(turn.KindInterrupt, "", 0)
			return false
		case told:
		case line.failed():
			end(turn.KindError, event.Message, 0)
		case line.Type == "assistant" && len(line.Message.Parts.calls()) == 0:
			said, answer = true, line.Message.Parts.text()+answer
		case said && strings.HasSuffix(event.Name, ".api_response"):
			end(turn.KindEnd, answer, flush)
		}
		return line.Type != "user" && line.Type != "tool_result"
	})
	switch {
	case told:
	case said:
		end(turn.KindInterrupt, "", flushWords)
	default:
		e.Kind, lag = turn.KindInterrupt, flush
	}
	return e, lag, told
}

// failed reports whether a request failed, aborted whether the user stopped it.
func (r record) failed() bool { return strings.HasSuffix(r.Payload.Event.Name, ".api_error") }

func (r record) aborted() bool {
	return r.failed() && strings.Contains(r.Payload.Event.Message, "aborted")
}
