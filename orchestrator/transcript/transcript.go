// Package transcript reads the conversations of agents from the records of their CLIs, and finds
// the messages of each turn.
//
// It may import orchestrator/live, cli and app. Begin with Read, then Spans.
package transcript

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// Unreadable says why a conversation cannot be read.
func Unreadable(w *session.Agent, err error) string {
	var missing *cli.ConversationError
	switch {
	case errors.Is(err, cli.ErrNoTranscript):
		return w.CLI + " " + err.Error()
	case errors.As(err, &missing):
		return missing.Reason
	}
	return err.Error()
}

// History returns the newest conversation of an agent, and what its CLI's own record has of it. One that has not begun has an
// id of its own.
func History(ctx context.Context, a app.Agent, records []turn.Record) (said history.History, found cli.Transcript, err error) {
	found, err = Conversation(ctx, a, "", records)
	if said = history.New(); found.ID != "" {
		said = history.Restored(found.ID)
	}
	for _, message := range found.Messages {
		said.AddMessage(message)
	}
	return said, found, err
}

// TurnsIn returns the turn with this number, and the turns that are of the conversation or of an
// unknown one. n is the index of that turn in turns.
func TurnsIn(records []turn.Record, conversation string, number int) (turns []turn.Record, n int) {
	for _, r := range records {
		if r.Number == number {
			n = len(turns)
		} else if r.Conversation != "" && r.Conversation != conversation {
			continue
		}
		turns = append(turns, r)
	}
	return turns, n
}

// TurnsElsewhere returns the numbers of the turns in other conversations.
func TurnsElsewhere(records []turn.Record, conversation string) []int {
	var elsewhere []int
	for _, r := range records {
		if r.Conversation != "" && r.Conversation != conversation {
			elsewhere = append(elsewhere, r.Number)
		}
	}
	return elsewhere
}

// Conversation is like Read, with errors for the user. A conversation that has not begun is empty.
func Conversation(ctx context.Context, a app.Agent, id string, records []turn.Record) (cli.Transcript, error) {
	found, err := Read(ctx, a, id)
	var missing *cli.ConversationError
	switch {
	case err == nil:
		return found, nil
	case errors.Is(err, cli.ErrNoTranscript):
		return found, errs.New(errs.Failed, "%s: %s", a.Record.Name, Unreadable(a.Record, err)).Hint("paw attach %s %s", a.Session.Name, a.Record.Name)
	case errors.As(err, &missing) && !anyTurnIn(records, missing.ID):
		return cli.Transcript{ID: missing.ID}, nil
	case errors.As(err, &missing):
		return found, errs.New(errs.NotFound, "%s: its conversation cannot be read: %s", a.Record.Name, missing.Reason).Hint("paw turns %s/%s", a.Session.Name, a.Record.Name)
	case errors.Is(err, cli.ErrNotInstalled):
		return found, errs.New(errs.Missing, "%s: %w", a.Record.Name, err).Hint("paw clis")
	}
	return found, errs.New(errs.Failed, "%s: its conversation cannot be read: %w", a.Record.Name, err).Hint("paw turns %s/%s", a.Session.Name, a.Record.Name)
}

// Read reads a conversation of an agent from its CLI's own record; the newest one if id is "".
func Read(ctx context.Context, a app.Agent, id string) (cli.Transcript, error) {
	return read(ctx, a, id, false)
}

// Recent reads the end of an agent's newest conversation, at least its last messages.
func Recent(ctx context.Context, a app.Agent) (cli.Transcript, error) { return read(ctx, a, "", true) }

func read(ctx context.Context, a app.Agent, id string, recent bool) (cli.Transcript, error) {
	c, ok := a.App.CLIs.Get(a.Record.CLI)
	if !ok {
		return cli.Transcript{}, errs.New(errs.Usage, "unknown CLI %s", a.Record.CLI)
	}
	_, executable, _ := a.App.ProgramOf(a.Record) // only opencode needs its program, and reports that it is missing
	spec := a.App.Specs().Read(a.Session, a.Record, executable)
	spec.ConversationID, spec.Recent = cmp.Or(id, spec.ConversationID), recent
	if spec.ConversationID == "" {
		if ids, err := c.Learn(ctx, spec); err == nil && len(ids) > 0 {
			spec.ConversationID = ids[len(ids)-1] // the CLI chose the id, and no hook has reported it yet
		}
	}
	return c.History(ctx, spec)
}

// anyTurnIn reports whether a turn was in a conversation, or may have been.
func anyTurnIn(records []turn.Record, conversation string) bool {
	return slices.ContainsFunc(records, func(r turn.Record) bool { return r.Conversation == conversation || r.Conversation == "" })
}

// How much earlier than its turn a message can be, since the hook that begins the turn runs after
// the message: usually, and at most on a busy machine.
const (
	hookDelay     = 2 * time.Second
	mostHookDelay = time.Minute
)

// Span is the range of messages with indexes From <= i < To.
type Span struct{ From, To int }

// Spans finds the messages of each turn in a conversation. turns are all turns of the conversation,
// oldest first.
//
// A turn begins with its prompt or, where the CLI dropped or changed that, at its start time. It lasts until the next turn, or
// until the user types something after its end.
func Spans(messages []history.Message, turns []turn.Record) []Span {
	begins := matchPrompts(messages, turns)
	high := make([]int, len(turns)+1) // for each turn, the index of the next matched prompt
	high[len(turns)] = len(messages)
	for n := len(turns) - 1; n >= 0; n-- {
		if high[n] = high[n+1]; begins[n] >= 0 {
			high[n] = begins[n]
		}
	}
	spans := make([]Span, len(turns))
	low := 0
	for n, one := range turns {
		spans[n] = spanOf(messages, one, begins[n], Span{low, high[n+1]})
		if begins[n] >= 0 {
			low = begins[n] + 1
		}
	}
	return spans
}

// spanOf returns the messages of one turn, within bounds. begin is the index of its prompt,
// negative for none.
func spanOf(messages []history.Message, one turn.Record, begin int, bounds Span) Span {
	from := begin
	if begin < 0 {
		for from = bounds.From; from < bounds.To && messages[from].Timestamp.Before(one.StartedAt.Add(-hookDelay)); from++ {
		}
	}
	to := from
	for ; to < bounds.To; to++ {
		m := messages[to]
		over := one.EndedAt != nil && m.Timestamp.After(*one.EndedAt)
		if over && (begin < 0 || to > from && m.Role == history.RoleUser) {
			break
		}
	}
	return Span{from, to}
}

// matchPrompts returns the index of the message of each turn's prompt, -1 for none.
func matchPrompts(messages []history.Message, turns []turn.Record) []int {
	asked, said := map[string][]int{}, map[string][]int{} // by text, the indexes of turns and of messages
	for t, one := range turns {
		if text := words(string(one.Prompt)); text != "" {
			asked[text] = append(asked[text], t)
		}
	}
	for i, message := range messages {
		if message.Role != history.RoleUser && message.Role != history.RoleSystem {
			continue
		}
		if text := words(message.Content); asked[text] != nil {
			said[text] = append(said[text], i)
		}
	}
	begins := slices.Repeat([]int{-1}, len(turns))
	for text := range said {
		pair(begins, messages, said[text], turns, asked[text])
	}
	return begins
}

// pair matches messages and turns of one text, which it gets by their indexes: in order where there are as many of them. Else
// a message is of the turn that is nearest to it in time, and a turn has the nearest of its messages.
func pair(begins []int, messages []history.Message, said []int, turns []turn.Record, asked []int) {
	fits := func(i, t int) bool { // an earlier message is of the conversation of which this one is a fork
		at := messages[i].Timestamp
		return at.IsZero() || !at.Before(turns[t].StartedAt.Add(-mostHookDelay))
	}
	away := func(i, t int) time.Duration { return apart(turns[t].StartedAt, messages[i].Timestamp) }
	inOrder := len(said) == len(asked)
	for n := 0; inOrder && n < len(said); n++ {
		inOrder = fits(said[n], asked[n])
	}
	if inOrder {
		for n, i := range said {
			begins[asked[n]] = i
		}
		return
	}
	n := 0
	for _, i := range said {
		for n+1 < len(asked) && fits(i, asked[n+1]) {
			further := cmp.Compare(away(i, asked[n+1]), away(i, asked[n]))
			if further > 0 || further == 0 && begins[asked[n]] < 0 {
				break
			}
			n++
		}
		if t := asked[n]; fits(i, t) && (begins[t] < 0 || away(i, t) < away(begins[t], t)) {
			begins[t] = i
		}
	}
}

// words normalizes the blanks of a prompt: some CLIs trim it, or add a space.
func words(prompt string) string { return strings.Join(strings.Fields(prompt), " ") }

// apart returns the distance of two moments, 0 where one is unknown.
func apart(a, b time.Time) time.Duration {
	if a.IsZero() || b.IsZero() {
		return 0
	}
	return a.Sub(b).Abs()
}
