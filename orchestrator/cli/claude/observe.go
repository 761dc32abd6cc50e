package claude

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/records"
	"paw/session"
	"paw/session/turn"
)

// settledAfter is how long claude must have been idle, without an end in the transcript, until the
// turn counts as over: between two queued prompts the registry says idle for a moment.
const settledAfter = 2 * time.Second

// waits puts the waitingFor of a registry entry into words.
func waits(waitingFor string) string {
	switch waitingFor {
	case "permission prompt":
		return "asks for permission"
	case "dialog open":
		return "a menu is open"
	}
	return waitingFor
}

// Observe reads claude's registry of running processes, which is the one prompt sign of an Esc or
// of a denied permission, and the transcript for how a turn ended and what began after it. An Esc
// before the first word of an answer leaves no trace in the transcript: then an idle claude is the
// sign.
func (c driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	entry, ok := process(s)
	settled := time.Since(entry.since()) >= settledAfter
	told, err := c.told(ctx, s, last, ok && !settled)
	if err != nil {
		return cli.Observed{}, err
	}
	seen := cli.Observed{Known: ok, Live: ok, At: entry.since(), Source: session.SourceRecord, Ended: told.ended, Later: told.later, Joined: told.joined}
	if !ok {
		seen.Source = ""
	}
	seen.Windows = c.Windows(s)
	if entry.Kind == background {
		seen.Away = entry.PID
	}
	if ok && !entry.within(s) {
		seen.Elsewhere = entry.Cwd
	}
	switch {
	case entry.Status == "busy", ok && !settled && told.wait > 0, ok && told.ended == nil && reports(entry, last): // idle for a moment between two turns
		seen.Busy = true
		return seen, nil
	case entry.Status == "waiting":
		seen.Waiting, seen.Vague, seen.Question = true, true, waits(entry.WaitingFor)
		if records.IsOpen(last) && last.Waiting && last.Question != "" {
			seen.Vague, seen.Question = questions.Paged(last.Question), last.Question
		}
		return seen, nil
	case !records.IsOpen(last):
		return seen, nil
	case ok && entry.before(last.StartedAt):
		return cli.Observed{}, nil // the entry is older than the turn and says nothing about it
	case told.ended != nil:
		seen.Known, seen.At, seen.Source = true, told.ended.At, session.SourceTranscript
		return seen, nil
	case !ok || !settled:
		return cli.Observed{Later: told.later, Joined: told.joined}, nil
	}
	seen.Ended = &turn.Event{
		Kind: turn.KindInterrupt, Conversation: s.ConversationID, TurnID: last.TurnID, Message: "claude is idle without an answer",
	}
	if last.Held != nil && !entry.before(last.Held.At) {
		seen.Ended.Kind, seen.Ended.Message = turn.KindEnd, last.Held.Message
	}
	return seen, nil
}

// told reads the transcript about the turn last and the turns after it; it returns nothing where
// there is no transcript.
func (c driver) told(ctx context.Context, s cli.Spec, last *turn.Record, waiting bool) (*toldTurns, error) {
	if last == nil || last.Conversation != "" && last.Conversation != s.ConversationID {
		return &toldTurns{}, nil
	}
	found, err := c.Conversation(ctx, s)
	if err != nil || found.Transcript == "" {
		return &toldTurns{}, err
	}
	told, err := turns(found.Transcript, last, waiting)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return told, err
}
