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

// Seen is the result of marking an agent as seen.
type Seen struct {
	Agent    string
	Turn     string // number of the turn whose end was seen, "" for the agent's current state
	Shown    bool   // the state is one shown earlier, which the user named by its commit
	ToReview int    // number of finished turns still to review
}

// MarkSeen marks an agent as seen: its current state, or with a number its state at the end of that
// turn, 0 being its base. With the commit of a state that was shown, it marks that state and the
// turns up to number.
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

// MarkSeen marks the second of the two compared states as seen, not what the agent has done since.
func (c *Compared) MarkSeen(ctx context.Context) (*Seen, error) {
	if err := turns.MarkSeen(ctx, c.home, c.m, c.s.Name, c.w, c.look); err != nil {
		return nil, err
	}
	return &Seen{Agent: c.w.Name, Turn: c.upto, ToReview: max(c.w.Turns-c.look.Finished.Turns, 0)}, nil
}

// String returns what was marked, and how many turns are left to review.
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

// CloseUnseen writes the ends of turns into the logs that no hook has reported and that the CLIs'
// own records contain, such as an Esc in claude: the snapshot of such an end is taken when it is
// first noticed. Without names it looks at all agents. An error is logged, and the turn is then
// shown as the CLI's record has it.
func CloseUnseen(ctx context.Context, h *app.App, s *session.Session, agents ...string) {
	for i := range s.Agents {
		w := &s.Agents[i]
		if len(agents) > 0 && !slices.Contains(agents, w.Name) || !awaitUnseen(ctx, h, s, w) {
			continue
		}
		if _, err := takeMissed(ctx, h, s, w); err != nil {
			h.HookLog().Add(w.CLI, "unseen", err)
		}
	}
}

// FollowAnswer starts a process that writes down the end of a turn after an answer to a dialog:
// some CLIs run no hook after a refusal.
func FollowAnswer(h *app.App, s *session.Session, agentName string) { follow(h, s.Name, agentName) }

// FollowUnseen starts a process for each turn that has ended by what the agents' states show and is
// still open in its log, to write down the end. It serves commands that only show agents. told,
// unless nil, keeps the turns for which that was done, so that it is done once.
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

// awaitUnseen waits until it is certain whether the open turn has ended, and returns endedUnseen:
// paw status shows an end at once, and later changes must not be counted to the turn.
func awaitUnseen(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) bool {
	poll.Until(ctx, 10*poll.Tick, turns.ListGrace, func() bool {
		seen, open := openTurn(h, s, w)
		return !open || !seen.EndedUnseen(0) || seen.EndedUnseen(turns.ListGrace)
	})
	return endedUnseen(h, s, w)
}

// endedUnseen reports whether the CLI's own record has the end of the open turn of a running agent,
// and has had it for so long that no hook will report it.
func endedUnseen(h *app.App, s *session.Session, w *session.Agent) bool {
	seen, open := openTurn(h, s, w)
	return open && seen.EndedUnseen(turns.ListGrace)
}

// openTurn observes an agent that runs and whose last turn is open in its log.
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

// takeMissed writes what the CLI's own record has of an agent's turns into their logs, and after an
// end notifies the user, the parent and the queue.
func takeMissed(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) (ended bool, err error) {
	err = turns.Change(ctx, h, s, w, func(t *turns.Recorder) error {
		defer func() { ended = t.Ended }()
		return t.TakeMissed(ctx)
	})
	if ended {
		notifyOf(h, s.Name, w.Name, time.Time{}) // no hook has reported the end
		children.ClaimAfter(h, s.Name, w.Name, live.Claim{})
		queue.Wake(h, s.Name, 0, limited(h, s.Name, w.Name, true))
	}
	return ended, err
}
