package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// DoneOptions is what an agent says of its work.
type DoneOptions struct {
	Outcome string // one word; "" leaves it to the turn
	Message string
}

// Said is how the word of an agent was taken.
type Said struct {
	Agent   string
	Turn    int  // 0 for an agent that had no turn yet
	Open    bool // the turn goes on until the CLI ends it
	Outcome string
}

// maxOutcome is how long an outcome may be: it is one word of a footer.
const maxOutcome = 64

// Done records that the agent which calls paw has finished its work. It holds
// for the turn that is open, else for the last one; a later turn takes it back.
func Done(ctx context.Context, h *app.App, o DoneOptions) (*Said, error) {
	s, w, err := h.Caller("done", "paw help agents")
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.Outcome, unicode.IsSpace) || len(o.Outcome) > maxOutcome {
		return nil, errs.New(errs.Usage, "--outcome %q: not a word of at most %d characters", o.Outcome, maxOutcome).Hint("paw done --help")
	}
	if err := app.RequireWritable(w, h.OwnDirs(), nil, ""); err != nil {
		return nil, err
	}
	last, err := h.TurnDir(s.Name, w.Name).Last()
	if err != nil {
		return nil, err
	}
	said := &Said{Agent: w.Name, Outcome: o.Outcome}
	if last != nil {
		said.Turn, said.Open = last.Number, last.State == turn.InProgress
	}
	_, err = h.Update(ctx, s.Name, func(rec *session.Session) error {
		w, err := app.AgentNamed(rec, said.Agent)
		if err == nil {
			w.Done = &session.Done{Turn: said.Turn, Outcome: o.Outcome, Message: strings.TrimSpace(o.Message), At: h.Now().UTC()}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	h.Step("done.recorded")
	if cli, known := h.CLIs.Get(w.CLI); said.Open && known && cli.Facts().Unseen {
		said.Open = false
		err = turns.EndOwn(ctx, h, s, w)
	}
	if !said.Open {
		children.ClaimAfter(h, s.Name, w.Name, live.Claim{})
	}
	return said, err
}

// String says what was recorded, and what is left to do.
func (d *Said) String() string {
	text := d.Agent + ": done"
	if d.Turn > 0 {
		text += fmt.Sprintf(" with turn %d", d.Turn)
	}
	if d.Outcome != "" {
		text += " (" + d.Outcome + ")"
	}
	if d.Open {
		text += "; it counts from the end of this turn on, so end it now"
	}
	return text
}
