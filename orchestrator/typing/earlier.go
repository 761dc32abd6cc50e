package typing

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"paw/orchestrator/app"
	"paw/session/turn"
)

// earlierAge is how long a prompt of which nothing says that it arrived may still come: a CLI that hung goes on with what was typed.
const earlierAge = 10 * time.Minute

// earlier is the prompt that paw typed last, as long as nothing says that it arrived.
type earlier struct {
	Prompt string    `json:"prompt"` // in the CLI's canonical form, "" for none
	Turn   int       `json:"turn"`   // the last one before it was typed
	At     time.Time `json:"at"`
}

// earlierPath is where it is kept for whoever types next.
func earlierPath(h *app.App, session, agent string) string {
	return filepath.Join(h.StateDir(session, agent), "unconfirmed.json")
}

// recallEarlier reads what the sender before has left, unless it has arrived since.
func (t *sender) recallEarlier() earlier {
	var e earlier
	text, err := os.ReadFile(earlierPath(t.app, t.s.Name, t.w.Name))
	if err != nil || json.Unmarshal(text, &e) != nil || t.app.Now().Sub(e.At) > earlierAge {
		return earlier{}
	}
	since, _ := t.app.TurnDir(t.s.Name, t.w.Name).After(e.Turn)
	if e.in(since, t.cli.Canonical) != nil {
		return earlier{}
	}
	return e
}

// lastTyped is that prompt, as it was when this sender looked first.
func (t *sender) lastTyped() earlier {
	if t.last == nil {
		e := t.recallEarlier()
		t.last = &e
	}
	return *t.last
}

// in finds the turn that the prompt began, nil for none.
func (e earlier) in(turns []turn.Record, canonical func(string) string) *turn.Record {
	for i := range turns {
		if e.Prompt != "" && canonical(string(turns[i].Prompt)) == e.Prompt {
			return &turns[i]
		}
	}
	return nil
}

// leave keeps the prompt that is about to be typed for whoever types next. settled forgets it.
func (t *sender) leave() {
	text, err := json.Marshal(earlier{Prompt: t.before.prompt, Turn: t.before.number, At: t.app.Now()})
	if err == nil {
		_ = app.WritePrivate(earlierPath(t.app, t.s.Name, t.w.Name), text)
	}
}

func (t *sender) settled() { _ = os.Remove(earlierPath(t.app, t.s.Name, t.w.Name)) }
