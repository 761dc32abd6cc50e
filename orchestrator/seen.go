package orchestrator

import (
	"context"
	"fmt"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
)

// Seen is what is marked as looked at.
type Seen struct {
	Agent    string
	Turn     string // number of the turn whose end was seen, "" for the agent as it is
	Shown    bool   // what was seen is a state of the agent that was shown before
	ToReview int    // finished turns that are left
}

// MarkSeen notes that the user has looked at all that an agent has done, or at its state at the end of a turn; 0 is its base.
// With the commit of a state that was shown it is that one, and the turns up to the number.
func MarkSeen(ctx context.Context, h *app.App, s *session.Session, agentName, number, state string) (*Seen, error) {
	compared, err := Compare(ctx, h, s, agentName, DiffOptions{Unseen: true, Upto: number, State: state})
	if err != nil {
		return nil, err
	}
	defer compared.Close()
	seen, err := compared.MarkSeen(ctx)
	if err == nil && state != "" {
		seen.Shown = true
	}
	return seen, err
}

// MarkSeen notes that the user has looked at the second of the two states: that, and not what the agent has done since.
func (c *Compared) MarkSeen(ctx context.Context) (*Seen, error) {
	if err := turns.MarkSeen(ctx, c.home, c.m, c.s.Name, c.w, c.look); err != nil {
		return nil, err
	}
	return &Seen{Agent: c.w.Name, Turn: c.upto, ToReview: max(c.w.Turns-c.look.Finished.Turns, 0)}, nil
}

// String says what was seen, and how much is left.
func (s *Seen) String() string {
	text := fmt.Sprintf("%s: seen up to the end of turn %s", s.Agent, s.Turn)
	switch {
	case s.Shown:
		text = s.Agent + ": seen as it was shown"
	case s.Turn == "":
		return s.Agent + ": seen as it is now"
	}
	switch s.ToReview {
	case 0:
		return text
	case 1:
		return text + "; 1 turn is left to review"
	}
	return fmt.Sprintf("%s; %s are left to review", text, errs.Counted(s.ToReview, "turn"))
}
