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
// A turn begins with its prompt. Several prompts may have the same text: as many turns as possible
// are matched with prompts, in order, and each with the nearest one in time. A turn without a
// matching prompt, because the CLI dropped or changed it, begins at its start time. A turn lasts
// until the next turn, or until the user types something after its end.
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

// match is the quality of a matching of prompts and messages.
type match struct {
	count int
	apart time.Duration // sum of all time differences
}

func (m match) better(other match) bool {
	return m.count > other.count || m.count == other.count && m.apart < other.apart
}

// matchPrompts returns the index of the message of each turn's prompt, -1 for none.
func matchPrompts(messages []history.Message, turns []turn.Record) []int {
	m := newMatching(messages, turns)
	begins := slices.Repeat([]int{-1}, len(turns))
	if m.oneToOne() {
		for t, s := range m.said {
			begins[m.turns[t]] = s
		}
		return begins
	}
	m.bring(messages, turns)
	s := 0
	for t := range m.turns {
		for ; s < len(m.said); s++ {
			if m.take.has(m.cell(t, s)) {
				begins[m.turns[t]] = m.said[s]
				s++
				break
			}
			if m.skip.has(m.cell(t, s)) {
				break
			}
		}
	}
	return begins
}

// matching is the state of matchPrompts. A cell is a pair of a turn and a message that could be its
// prompt.
type matching struct {
	turns    []int       // indexes of turns whose prompt occurs as a message
	said     []int       // indexes of messages that have the text of a prompt
	words    []int       // by index in said, a number for the message's text
	prompts  []int       // by index in turns, the number for the prompt's text
	earliest []time.Time // by index in turns, the earliest time of its prompt
	at       []time.Time // by index in said, the time of the message
	take     bits        // cells in which turn and message are matched
	skip     bits        // cells in which the turn has no message
}

// newMatching leaves out turns and messages that can have no match.
func newMatching(messages []history.Message, turns []turn.Record) *matching {
	asked, answered := map[string]int{}, map[int]bool{}
	for _, one := range turns {
		if text := words(string(one.Prompt)); text != "" && asked[text] == 0 {
			asked[text] = len(asked) + 1
		}
	}
	m := &matching{}
	for i, message := range messages {
		if message.Role != history.RoleUser && message.Role != history.RoleSystem {
			continue
		}
		if number := asked[words(message.Content)]; number != 0 {
			m.said, m.words, m.at = append(m.said, i), append(m.words, number), append(m.at, message.Timestamp)
			answered[number] = true
		}
	}
	for t, one := range turns {
		if number := asked[words(string(one.Prompt))]; answered[number] {
			m.turns, m.prompts, m.earliest = append(m.turns, t), append(m.prompts, number), append(m.earliest, one.StartedAt.Add(-mostHookDelay))
		}
	}
	return m
}

// oneToOne reports whether each message can be the prompt of the turn at the same index, which is
// then the best matching. It holds for almost all conversations, and saves the table, which is slow
// for thousands of prompts.
func (m *matching) oneToOne() bool {
	if len(m.turns) != len(m.said) {
		return false
	}
	for i := range m.turns {
		if !m.fits(i, i) {
			return false
		}
	}
	return true
}

// bring finds the best matching.
//
// It keeps only two rows of the table of best matchings, and one step for each cell: the whole
// table of a conversation with thousands of prompts would be too large.
func (m *matching) bring(messages []history.Message, turns []turn.Record) {
	cells := len(m.turns) * len(m.said)
	m.take, m.skip = make(bits, cells/64+1), make(bits, cells/64+1)
	// best[s] is the best matching of the turns from t on with the messages from s on; below[s] is
	// the best matching of the turns from t+1 on with the same messages.
	best, below := make([]match, len(m.said)+1), make([]match, len(m.said)+1)
	for t := len(m.turns) - 1; t >= 0; t-- {
		best[len(m.said)] = match{}
		for s := len(m.said) - 1; s >= 0; s-- {
			best[s] = best[s+1]
			if !best[s].better(below[s]) {
				best[s] = below[s]
				m.skip.set(m.cell(t, s))
			}
			if !m.fits(t, s) {
				continue
			}
			together := match{below[s+1].count + 1, below[s+1].apart + apart(turns[m.turns[t]].StartedAt, messages[m.said[s]].Timestamp)}
			if !best[s].better(together) {
				best[s] = together
				m.take.set(m.cell(t, s))
			}
		}
		best, below = below, best
	}
}

func (m *matching) cell(t, s int) int { return t*len(m.said) + s }

// fits reports whether a message can be the prompt of a turn: it has the same text, and is not from
// the conversation of which this one is a fork.
func (m *matching) fits(t, s int) bool {
	return m.prompts[t] == m.words[s] && (m.at[s].IsZero() || !m.at[s].Before(m.earliest[t]))
}

// bits is a set of small integers.
type bits []uint64

func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// words normalizes the blanks of a prompt: some CLIs trim it, or add a space.
func words(prompt string) string { return strings.Join(strings.Fields(prompt), " ") }

// apart returns the distance of two moments, 0 where one is unknown.
func apart(a, b time.Time) time.Duration {
	if a.IsZero() || b.IsZero() {
		return 0
	}
	return a.Sub(b).Abs()
}
