package orchestrator

import (
	"context"
	"slices"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// CloseUnseen writes down the ends of turns that no hook has told of and that the CLIs' own records have, such as an Esc in
// claude: the snapshot of an end counts from the moment at which somebody sees it first. Without names it looks at all
// agents. A failure is logged, and the turn is then shown as the record has it.
func CloseUnseen(ctx context.Context, h *app.App, s *session.Session, agents ...string) {
	for i := range s.Agents {
		w := &s.Agents[i]
		if len(agents) > 0 && !slices.Contains(agents, w.Name) || !endedUnseen(h, s, w) {
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

// endedUnseen reports whether the open turn of an agent that runs has ended by its CLI's own record, so long ago that no hook
// will tell.
func endedUnseen(h *app.App, s *session.Session, w *session.Agent) bool {
	last, err := h.TurnDir(s.Name, w.Name).Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return false
	}
	lock, err := h.Locks.ProbeAgent(s.Name, w.Name)
	if err != nil || lock.State != session.LockHeld {
		return false
	}
	seen := observe.InPane(h, s, w, lock)
	return seen.EndedUnseen(turns.ListGrace)
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
	}
	return ended, err
}
