package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"paw/session"
	"paw/session/turn"
)

// DoneOptions is what an agent says of its work.
type DoneOptions struct {
	Outcome string // one word; "" leaves it to the turn
	Message string
}

// Done is how the word of an agent was taken.
type Done struct {
	Agent   string
	Turn    int  // 0 for an agent that had no turn yet
	Open    bool // the turn goes on until the CLI ends it
	Outcome string
}

// maxOutcome is how long an outcome may be: it is one word of a footer.
const maxOutcome = 64

// Done records that the agent which calls paw has finished its work. It holds
// for the turn that is open, else for the last one; a later turn takes it back.
func (p *Paw) Done(ctx context.Context, o DoneOptions) (*Done, error) {
	s, w, err := p.caller("done", "paw help agents")
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.Outcome, unicode.IsSpace) || len(o.Outcome) > maxOutcome {
		return nil, failf(KindUsage, "--outcome %q: not a word of at most %d characters", o.Outcome, maxOutcome).hint("paw done --help")
	}
	if err := requireWritable(w, p.ownDirs(), nil, ""); err != nil {
		return nil, err
	}
	last, err := p.turnDir(s.Name, w.Agent).Last()
	if err != nil {
		return nil, err
	}
	said := &Done{Agent: w.Agent, Outcome: o.Outcome}
	if last != nil {
		said.Turn, said.Open = last.Number, last.State == turn.InProgress
	}
	_, err = p.update(ctx, s.Name, func(rec *session.Session) error {
		w, err := agentNamed(rec, said.Agent)
		if err == nil {
			w.Done = &session.Done{Turn: said.Turn, Outcome: o.Outcome, Message: strings.TrimSpace(o.Message), At: p.Now().UTC()}
		}
		return err
	})
	if err != nil {
		return nil, p.recordError(s.Name, err)
	}
	p.Step("done.recorded")
	if cli, known := p.CLIs.Get(w.CLI); said.Open && known && cli.Facts().Turns == turnsOfPaw {
		said.Open = false
		err = p.endOwnTurn(ctx, s, w)
	}
	if !said.Open {
		p.claimAfter(s.Name, w.Agent, Claim{})
	}
	return said, err
}

// endOwnTurn finishes the open turn of a CLI without hooks: nobody else would
// see its end.
func (p *Paw) endOwnTurn(ctx context.Context, s *session.Session, w *session.Worktree) error {
	return p.withTurns(ctx, s, w, func(t *turns) error {
		one, err := t.open()
		if err != nil || one == nil {
			return err
		}
		_, err = t.finish(ctx, one, "")
		return err
	})
}

// said is what the agent said of its work in turn n, nil when it said nothing.
// It has said it since t was made, so the record is read again.
func (t *turns) said(n int) *session.Done {
	rec, err := t.p.Store.Load(t.s.Name)
	if err != nil || rec == nil {
		return nil
	}
	w := rec.Worktree(t.w.Agent)
	if w == nil || w.Done == nil || w.Done.Turn != n {
		return nil
	}
	return w.Done
}

// String says what was recorded, and what is left to do.
func (d *Done) String() string {
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
