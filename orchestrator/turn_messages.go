package orchestrator

import (
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

// span is a range of messages: from, and up to but not with, two indexes.
type span struct{ from, to int }

// turnSpan finds the messages of the turn at index n among those of a
// conversation. turns are all the turns of that conversation, oldest first.
//
// A turn begins with its prompt, of which there may be several of the same text:
// as many turns as possible get theirs, in order, and of those that could be it
// the one nearest in time. A turn whose prompt is not there, because the CLI
// dropped it or wrote it down otherwise, begins at its time. It lasts until the
// next turn, or until the user types something after its end.
func turnSpan(messages []history.Message, turns []turn.Record, n int) span {
	begins := matchPrompts(messages, turns)
	low, high := 0, len(messages)
	for i, begin := range begins {
		switch {
		case begin < 0:
		case i < n:
			low = begin + 1
		case i > n:
			high = min(high, begin)
		}
	}
	one := turns[n]
	from := begins[n]
	if from < 0 {
		for from = low; from < high && messages[from].Timestamp.Before(one.StartedAt.Add(-hookDelay)); from++ {
		}
	}
	to := from
	for ; to < high; to++ {
		m := messages[to]
		over := one.EndedAt != nil && m.Timestamp.After(*one.EndedAt)
		if over && (begins[n] < 0 || to > from && m.Role == history.RoleUser) {
			break
		}
	}
	return span{from, to}
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
	var said []int // messages that could be prompts, and their words
	var saidWords, promptWords []string
	for i, m := range messages {
		if m.Role == history.RoleUser || m.Role == history.RoleSystem {
			said, saidWords = append(said, i), append(saidWords, words(m.Content))
		}
	}
	for _, one := range turns {
		promptWords = append(promptWords, words(one.Prompt))
	}
	// best[t][s] is the best match of the turns from t on with the messages from s on.
	best := make([][]match, len(turns)+1)
	for t := range best {
		best[t] = make([]match, len(said)+1)
	}
	pair := func(t, s int) (match, bool) {
		at, begin := messages[said[s]].Timestamp, turns[t].StartedAt
		copied := !at.IsZero() && at.Before(begin.Add(-mostHookDelay)) // from the conversation that this one began with
		if promptWords[t] == "" || promptWords[t] != saidWords[s] || copied {
			return match{}, false
		}
		rest := best[t+1][s+1]
		return match{rest.count + 1, rest.apart + apart(begin, at)}, true
	}
	for t := len(turns) - 1; t >= 0; t-- {
		for s := len(said) - 1; s >= 0; s-- {
			best[t][s] = best[t][s+1]
			if best[t+1][s].better(best[t][s]) {
				best[t][s] = best[t+1][s]
			}
			if m, ok := pair(t, s); ok && m.better(best[t][s]) {
				best[t][s] = m
			}
		}
	}
	begins := make([]int, len(turns))
	for t, s := 0, 0; t < len(turns); {
		begins[t] = -1
		if s == len(said) {
			t++
			continue
		}
		m, ok := pair(t, s)
		switch {
		case ok && m == best[t][s]:
			begins[t] = said[s]
			t, s = t+1, s+1
		case best[t][s] == best[t+1][s]:
			t++
		default:
			s++
		}
	}
	return begins
}

// words are what counts of a prompt: some CLIs trim it, or add a space.
func words(prompt string) string { return strings.Join(strings.Fields(prompt), " ") }

// apart is how far two moments are from each other; nothing for one that is not known.
func apart(a, b time.Time) time.Duration {
	if a.IsZero() || b.IsZero() {
		return 0
	}
	return a.Sub(b).Abs()
}
