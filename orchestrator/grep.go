package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/transcript"
	"paw/session"
	"paw/session/history"
)

// GrepOptions selects messages.
type GrepOptions struct {
	Text       string
	IgnoreCase bool
	Role       string // "" for all
	Most       int    // maximal number of matches, of which the newest are kept
}

// Match is a message that contains the text.
type Match struct {
	Session, Agent string
	Turn           int // 0 for no turn
	history.Message
}

// Grep searches the conversations of agents for a text, and returns the newest messages first, with
// the number of further matches. Conversations that cannot be read are noted.
func Grep(ctx context.Context, h *app.App, sessions []*session.Session, agents []string, o GrepOptions) (found []Match, more int, err error) {
	for _, s := range sessions {
		own, err := h.ConfiguredFor(s)
		if err != nil {
			return nil, 0, err
		}
		for i := range s.Agents {
			w := &s.Agents[i]
			if len(agents) > 0 && !slices.Contains(agents, w.Name) {
				continue
			}
			matches, err := grepAgent(ctx, own.Agent(s, w), o)
			if ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			if err != nil {
				h.Notef("%s/%s: not all of it could be read: %v", s.Name, w.Name, err)
			}
			found = append(found, matches...)
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return -cmp.Compare(a.at(), b.at()) })
	if len(found) > o.Most {
		found, more = found[:o.Most], len(found)-o.Most
	}
	return found, more, nil
}

func (m Match) at() int64 {
	if m.Timestamp.IsZero() {
		return 0
	}
	return m.Timestamp.UnixNano()
}

func grepAgent(ctx context.Context, a app.Agent, o GrepOptions) (found []Match, err error) {
	records, _ := a.TurnDir().Records()
	has := o.finder()
	for _, id := range a.Record.ConversationIDs {
		said, readErr := transcript.Conversation(ctx, a, id, records)
		if readErr != nil {
			err = cmp.Or(err, readErr)
			continue
		}
		turns, _ := transcript.TurnsIn(records, said.ID, 0)
		spans := transcript.Spans(said.Messages, turns)
		for i, message := range said.Messages {
			if o.Role != "" && string(message.Role) != o.Role || !has(message.Content) {
				continue
			}
			one := Match{Session: a.Session.Name, Agent: a.Record.Name, Message: message}
			for t, span := range spans {
				if i >= span.From && i < span.To {
					one.Turn = turns[t].Number
				}
			}
			found = append(found, one)
		}
	}
	return found, err
}

func (o GrepOptions) finder() func(text string) bool {
	if !o.IgnoreCase {
		return func(text string) bool { return strings.Contains(text, o.Text) }
	}
	wanted := strings.ToLower(o.Text)
	return func(text string) bool { return strings.Contains(strings.ToLower(text), wanted) }
}
