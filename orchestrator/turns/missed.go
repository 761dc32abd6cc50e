package turns

import (
	"cmp"
	"context"
	"strings"

	"paw/orchestrator/observe"
	"paw/session/turn"
)

// missed are the events that catchUp applies before e.
func (t *Recorder) missed(ctx context.Context, last *turn.Record, e turn.Event) ([]turn.Event, turn.Event) {
	if last == nil || !mayBeBehind(last, e) {
		return nil, e
	}
	seen := observe.AskRecord(ctx, t.app, t.Session, t.Agent, last)
	var missed []turn.Event
	if e.Kind == turn.KindInput && last.State == turn.InProgress && last.Waiting && seen.Known && seen.Busy {
		missed = append(missed, turn.Event{Kind: turn.KindAnswered})
	}
	ends := e.Kind == turn.KindPrompt || e.Kind == turn.KindSessionEnd || len(seen.Later) > 0
	goesOn := e.TurnID != "" && e.TurnID == last.TurnID && seen.Busy
	if last.State == turn.InProgress && seen.Ended != nil && ends && !goesOn {
		missed = append(missed, *seen.Ended)
	}
	later := seen.Later
	if e.Kind == turn.KindPrompt {
		later, e = reported(later, e)
		e = joining(last, seen.Joined, e)
	}
	missed = append(missed, later...)
	if n := len(missed); n > 0 && e.Kind == turn.KindSessionEnd && missed[n-1].Kind != turn.KindEnd && missed[n-1].Kind != turn.KindPrompt {
		// A CLI that leaves may have been cut in the turn, whatever its record makes of it: then only a good end counts.
		missed = missed[:n-1]
	}
	return missed, e
}

// mayBeBehind reports whether a report can come after something that no hook told: the begin of a turn, the end of the CLI,
// or the event of a turn that nobody knows.
func mayBeBehind(last *turn.Record, e turn.Event) bool {
	switch e.Kind {
	case turn.KindPrompt, turn.KindSessionEnd:
		return true
	case turn.KindInput:
		return last.Waiting || e.TurnID != "" && e.TurnID != last.TurnID
	case turn.KindEnd, turn.KindError, turn.KindLimit, turn.KindAnswered, turn.KindTool:
		return e.TurnID != "" && e.TurnID != last.TurnID
	case turn.KindSessionStart, turn.KindInterrupt:
	}
	return false
}

// reported takes the prompt that a report is about from the end of what the CLI's record has: it is reported after all.
// The record knows better by which id the CLI will call the turn at its end.
func reported(later []turn.Event, e turn.Event) ([]turn.Event, turn.Event) {
	n := len(later)
	if n == 0 || later[n-1].Kind != turn.KindPrompt || !samePrompt(later[n-1].Prompt, e.Prompt) {
		return later, e
	}
	e.Queued, e.TurnID = e.Queued || later[n-1].Queued, cmp.Or(later[n-1].TurnID, e.TurnID)
	return later[:n-1], e
}

// joining is the report of a prompt that the open turn has taken already: of the one that it began with it means nothing,
// any other joins it.
func joining(last *turn.Record, joined string, e turn.Event) turn.Event {
	switch {
	case last.State != turn.InProgress || joined == "" || !samePrompt(joined, e.Prompt):
	case last.Follows && len(last.OlderIDs) == 0 && samePrompt(string(last.Prompt), e.Prompt):
		return turn.Event{}
	default:
		e.Queued, e.TurnID = true, last.TurnID
	}
	return e
}

func samePrompt(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }
