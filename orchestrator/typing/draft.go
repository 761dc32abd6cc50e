package typing

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
)

// putBack reports whether the text in the box is the prompt of the last turn, or the one that paw
// typed last and that never arrived. Some CLIs put a prompt back when it is interrupted before the
// first word of the answer; codex puts one back that came before it had drawn the end of the turn
// before.
func (t *sender) putBack(a *observe.Agent, draft string) bool {
	if t.ready.Clear == "" || draft == "" {
		return false
	}
	last := a.Turns.Last
	return t.ofPaw(draft) || last != nil && squeezed(draft) == squeezed(t.cli.Canonical(string(last.Prompt)))
}

// ofPaw reports whether a text is the prompt that paw typed last, if that has not arrived.
func (t *sender) ofPaw(draft string) bool {
	last := t.lastTyped().Prompt
	return last != "" && t.madeOf(draft, last)
}

// ownWords reports whether a text consists of the prompt and the one that paw typed last: a CLI
// that hung shows at once all that was typed meanwhile.
func (t *sender) ownWords(draft string) bool {
	return t.holds(draft) && t.madeOf(draft, t.before.prompt, t.lastTyped().Prompt)
}

// madeOf reports whether a text consists of these prompts, each any number of times.
func (t *sender) madeOf(draft string, prompts ...string) bool {
	rest := squeezed(t.cli.Canonical(draft))
	found := false
	for _, one := range prompts {
		if one = squeezed(one); one != "" {
			found = found || strings.Contains(rest, one)
			rest = strings.ReplaceAll(rest, one, "")
		}
	}
	return found && rest == ""
}

// clear empties the box and returns what the screen shows then. It presses a few keys at a time: a
// CLI takes many keys at once for a paste.
func (t *sender) clear(ctx context.Context) (cli.Screen, error) {
	keys := slices.Repeat([]string{t.ready.Clear}, 8)
	for end := t.app.Now().Add(clearPatience); !t.isEmpty(ctx) && t.app.Now().Before(end) && ctx.Err() == nil; {
		if err := t.strike(ctx, "", keys...); err != nil {
			return cli.Screen{}, t.shut(err)
		}
		poll.Sleep(ctx, 100*time.Millisecond)
	}
	box, err := t.see(ctx)
	if err == nil && box.Box == cli.BoxEmpty {
		t.last = &earlier{} // the earlier prompt will not arrive any more
		t.settled()
	}
	return box, err
}

// notAlone reports whether the box has the prompt and more. A text without the prompt is a
// placeholder or a part of the prompt.
func (t *sender) notAlone(draft string) bool {
	return t.holds(draft) && squeezed(t.cli.Canonical(draft)) != squeezed(t.before.prompt)
}

// holds reports whether a text contains the prompt.
func (t *sender) holds(text string) bool {
	return strings.Contains(squeezed(t.cli.Canonical(text)), squeezed(t.before.prompt))
}

// isEmpty reports whether the screen shows an empty box; always false for a CLI whose box paw
// cannot read.
func (t *sender) isEmpty(ctx context.Context) bool {
	box, err := t.see(ctx)
	return err == nil && box.Box == cli.BoxEmpty
}

// squeezed removes all blanks: a screen does not tell a line that was too long from one that ended.
func squeezed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// earlierAge is how long a prompt that has not arrived may still do so: a CLI that hung goes on
// with what was typed.
const earlierAge = 10 * time.Minute

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

// leave saves the prompt that is about to be typed for the next sender; settled deletes it.
func (t *sender) leave() {
	text, err := json.Marshal(earlier{Prompt: t.before.prompt, Turn: t.before.number, At: t.app.Now()})
	if err == nil {
		_ = app.WritePrivate(earlierPath(t.app, t.s.Name, t.w.Name), text)
	}
}

func (t *sender) settled() { _ = os.Remove(earlierPath(t.app, t.s.Name, t.w.Name)) }
