package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/queue"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
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
		text = s.Agent + ": marked as seen, as it was shown"
	case s.Turn == "":
		return s.Agent + ": marked as seen"
	}
	switch s.ToReview {
	case 0:
		return text
	case 1:
		return text + "; 1 turn is left to review"
	}
	return fmt.Sprintf("%s; %s are left to review", text, errs.Counted(s.ToReview, "turn"))
}

// CloseUnseen writes down the ends of turns that no hook has told of and that the CLIs' own records have, such as an Esc in
// claude: the snapshot of an end counts from the moment at which somebody sees it first. Without names it looks at all
// agents. A failure is logged, and the turn is then shown as the record has it.
func CloseUnseen(ctx context.Context, h *app.App, s *session.Session, agents ...string) {
	for i := range s.Agents {
		w := &s.Agents[i]
		if len(agents) > 0 && !slices.Contains(agents, w.Name) || !awaitUnseen(ctx, h, s, w) {
			continue
		}
		if _, err := takeMissed(ctx, h, s, w); err != nil {
			h.LogHook(w.CLI, "unseen", err)
		}
	}
}

// FollowAnswer lets a process of its own write down the end of a turn that an answer has ended: of a refusal some CLIs tell
// nobody.
func FollowAnswer(h *app.App, s *session.Session, agentName string) { follow(h, s.Name, agentName) }

// FollowUnseen lets processes of their own write down what a look at agents has found over, for whoever looks at a terminal and writes
// nothing itself. Of each turn it does so once where told remembers the turns.
func FollowUnseen(h *app.App, st observe.SessionStatus, told map[string]int) {
	for _, a := range st.Agents {
		rests := a.State == session.StateIdle || a.State == session.StateError || a.State == session.StateCompleted
		key := st.Session.Name + "/" + a.Record.Name
		if !rests || a.PID == 0 || a.CurrentTurn == 0 || told[key] == a.CurrentTurn {
			continue
		}
		follow(h, st.Session.Name, a.Record.Name)
		if told != nil {
			told[key] = a.CurrentTurn
		}
	}
}

// awaitUnseen is endedUnseen, and waits until it is certain: paw status tells of an end at once, and what is done from then on must not
// be of the turn.
func awaitUnseen(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) bool {
	poll.Until(ctx, 10*poll.Tick, turns.ListGrace, func() bool {
		seen, open := openTurn(h, s, w)
		return !open || !seen.EndedUnseen(0) || seen.EndedUnseen(turns.ListGrace)
	})
	return endedUnseen(h, s, w)
}

// endedUnseen reports whether the open turn of an agent that runs has ended by its CLI's own record, so long ago that no hook
// will tell.
func endedUnseen(h *app.App, s *session.Session, w *session.Agent) bool {
	seen, open := openTurn(h, s, w)
	return open && seen.EndedUnseen(turns.ListGrace)
}

// openTurn observes an agent that runs and has a turn open in its log.
func openTurn(h *app.App, s *session.Session, w *session.Agent) (seen live.Observation, open bool) {
	last, err := h.TurnDir(s.Name, w.Name).Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return seen, false
	}
	lock, err := h.Locks.ProbeAgent(s.Name, w.Name)
	if err != nil || lock.State != session.LockHeld {
		return seen, false
	}
	return observe.InPane(h, s, w, lock), true
}

// takeMissed applies what the CLI's own record tells of the turns of an agent, and tells everybody of an end.
func takeMissed(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) (ended bool, err error) {
	err = turns.Change(ctx, h, s, w, func(t *turns.Recorder) error {
		defer func() { ended = t.Ended }()
		return t.TakeMissed(ctx)
	})
	if ended {
		notifyOf(h, s.Name, w.Name, time.Time{}) // nobody has told of it
		children.ClaimAfter(h, s.Name, w.Name, live.Claim{})
		queue.Wake(h, s.Name, 0, limited(h, s.Name, w.Name, true))
	}
	return ended, err
}
