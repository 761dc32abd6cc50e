package transcript

import (
	"slices"
	"strings"
	"time"

	"paw/session/history"
	"paw/session/turn"
)

// How much earlier than its turn a message is, as the hook that begins the turn
// runs after it: usually, and at most, on a machine that is busy.
const (
	hookDelay     = 2 * time.Second
	mostHookDelay = time.Minute
)

// Span is a range of messages: from, and up to but not with, two indexes.
type Span struct{ From, To int }

// Spans finds the messages of each turn among those of a conversation. turns
// are all the turns of that conversation, oldest first.
//
// A turn begins with its prompt, of which there may be several of the same text:
// as many turns as possible get theirs, in order, and of those that could be it
// the one nearest in time. A turn whose prompt is not there, because the CLI
// dropped it or wrote it down otherwise, begins at its time. It lasts until the
// next turn, or until the user types something after its end.
func Spans(messages []history.Message, turns []turn.Record) []Span {
	begins := matchPrompts(messages, turns)
	high := make([]int, len(turns)+1) // of each turn: where the next prompt is that was found
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

// spanOf is the range of one turn's messages, which begin at an index that is
// negative where the prompt was not found. They lie within bounds.
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

// match is how well prompts and messages were brought together.
type match struct {
	count int
	apart time.Duration // all of them together
}

func (m match) better(other match) bool {
	return m.count > other.count || m.count == other.count && m.apart < other.apart
}

// matchPrompts finds the message of each turn's prompt, -1 where there is none.
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

// matching is what matchPrompts brings together: turns, and messages that could
// be their prompts.
type matching struct {
	turns    []int       // indexes of those whose words are among the messages
	said     []int       // indexes of the messages
	words    []int       // of each of said, a number for its words
	prompts  []int       // of each of turns, the number for those of its prompt
	earliest []time.Time // of each of turns, when its prompt can have been written
	at       []time.Time // of each of said
	take     bits        // cells where the turn and the message belong together
	skip     bits        // cells where the turn has no message
}

// newMatching leaves out what has no partner whatsoever.
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

// oneToOne reports whether each message is the prompt of the turn at its place: then nothing else would bring as many
// together. So it is with almost all conversations, and the table of thousands of prompts takes long.
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

// bring finds the best match.
//
// Of the table of best matches only two rows are kept, and of each cell the way
// to go from it: a conversation of thousands of prompts would fill the memory.
func (m *matching) bring(messages []history.Message, turns []turn.Record) {
	cells := len(m.turns) * len(m.said)
	m.take, m.skip = make(bits, cells/64+1), make(bits, cells/64+1)
	// best[s] is the best match of the turns from t on with the messages from s on, below[s] that of those after t.
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

// fits reports whether a message can be the prompt of a turn: it has its words,
// and does not come from the conversation that this one began with.
func (m *matching) fits(t, s int) bool {
	return m.prompts[t] == m.words[s] && (m.at[s].IsZero() || !m.at[s].Before(m.earliest[t]))
}

// bits is a set of small numbers.
type bits []uint64

func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// words are what counts of a prompt: some CLIs trim it, or add a space.
func words(prompt string) string { return strings.Join(strings.Fields(prompt), " ") }

// apart is how far two moments are from each other; nothing for one that is not known.
func apart(a, b time.Time) time.Duration {
	if a.IsZero() || b.IsZero() {
		return 0
	}
	return a.Sub(b).Abs()
}
