package typing

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"paw/orchestrator/app"
	"paw/session/turn"
)

// earlierAge is how long a prompt that has not arrived may still do so: a CLI that hung goes on
// with what was typed.
const earlierAge = 10 * time.Minute

// earlier is the prompt that paw typed last, if nothing has reported its arrival.
type earlier struct {
	Prompt string    `json:"prompt"` // prompt in the CLI's canonical form, "" for none
	Turn   int       `json:"turn"`   // last turn before the prompt was typed
	At     time.Time `json:"at"`
}

// earlierPath returns the file in which a sender leaves its prompt for the next sender.
func earlierPath(h *app.App, session, agent string) string {
	return filepath.Join(h.StateDir(session, agent), "unconfirmed.json")
}

// recallEarlier reads the prompt that the last sender left, unless it has arrived since.
func (t *sender) recallEarlier() earlier {
	var e earlier
	text, err := os.ReadFile(earlierPath(t.app, t.s.Name, t.w.Name))
	if err != nil || json.Unmarshal(text, &e) != nil || t.app.Now().Sub(e.At) > earlierAge {
		return earlier{}
	}
	since, _ := t.app.TurnDir(t.s.Name, t.w.Name).After(e.Turn)
	if e.begun(since, t.cli.Canonical) {
		return earlier{}
	}
	return e
}

// lastTyped returns the result of recallEarlier, which it calls only once.
func (t *sender) lastTyped() earlier {
	if t.last == nil {
		e := t.recallEarlier()
		t.last = &e
	}
	return *t.last
}

// begun reports whether the prompt began one of the turns.
func (e earlier) begun(turns []turn.Record, canonical func(string) string) bool {
	return e.Prompt != "" && slices.ContainsFunc(turns, func(one turn.Record) bool { return canonical(string(one.Prompt)) == e.Prompt })
}

// leave saves the prompt that is about to be typed for the next sender; settled deletes it.
func (t *sender) leave() {
	text, err := json.Marshal(earlier{Prompt: t.before.prompt, Turn: t.before.number, At: t.app.Now()})
	if err == nil {
		_ = app.WritePrivate(earlierPath(t.app, t.s.Name, t.w.Name), text)
	}
}

func (t *sender) settled() { _ = os.Remove(earlierPath(t.app, t.s.Name, t.w.Name)) }
