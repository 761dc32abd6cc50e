package qwen

import (
	"cmp"
	"context"
	"encoding/json"
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
		e.Prompt, e.Queued = typedPrompt(prompts.OwnWords(p.Prompt))
		e.At = begins(p.At, time.Now())
	case name == "Notification" && p.NotificationType == "idle_prompt":
		e = p.Event(turn.KindIdle)
		if e.At = p.At; e.At.IsZero() {
			e.At = time.Now()
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

// typedPrompt returns what the user typed, and whether the prompt joined a running turn.
func typedPrompt(prompt string) (typed string, joined bool) {
	typed, joined = strings.CutPrefix(prompt, joinedMark)
	if !joined {
		return prompt, false
	}
	return strings.ReplaceAll(typed, joinedMark, "\n"), true
}

// Observe reads the end of the chat file, where a request that an Esc cut off is recorded as an
// error, and the last notification that qwen is idle.
func (q driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	if !records.IsOpen(last) {
		return cli.Observed{}, nil
	}
	file := q.file(s)
	var seen cli.Observed
	err := records.EachBack(file, func(line chatLine) bool {
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
