package turns

import (
	"context"
	"time"

	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Recorder changes the turns of one agent: log, refs and record. Every method is called with the agent's turn lock held.
type Recorder struct {
	app     *app.App
	Session *session.Session
	Agent   *session.Agent
	M       worktree.Manager
	Dir     turn.Dir
	budget  worktree.Budget
	Strict  bool   // a number whose tag exists is an error: somebody can be told
	Launch  string // that reports, "" where no hook does
	Ended   bool   // a turn came to its end
	Held    bool   // a turn came to what may be its end
	Joined  bool   // a prompt joined a turn, or waits behind it

	Started func() // called when a turn has begun, before the snapshot of the state before it; nil for nobody
}

// Change runs change with the turn lock of an agent.
func Change(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, change func(*Recorder) error) error {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return err
	}
	unlock, err := h.Hold(ctx, h.Locks.Turn, s.Name, w.Name)
	if err != nil {
		return err
	}
	defer unlock()
	return change(&Recorder{
		app: h, Session: s, Agent: w, M: m, Dir: h.TurnDir(s.Name, w.Name),
		budget: worktree.Budget{
			Time:  time.Duration(h.Config.Turns.SnapshotSeconds) * time.Second,
			Bytes: int64(h.Config.Turns.SnapshotMiB) << 20,
		},
	})
}

// remember writes the number into the record, and with count how many turns have
// finished: the record keeps both even when log and refs are lost. What it does
// not say after a power loss recover counts again, from the log.
func (t *Recorder) remember(ctx context.Context, n int, count func(*session.Finished)) {
	finished := t.Agent.Finished
	if count(&finished); t.Agent.TurnHighWater >= n && finished == t.Agent.Finished {
		return
	}
	saved, err := t.app.UpdateSoon(ctx, t.Session.Name, func(rec *session.Session) error {
		if w := rec.Agent(t.Agent.Name); w != nil {
			w.TurnHighWater = max(w.TurnHighWater, n)
			count(&w.Finished)
		}
		return nil
	})
	if err == nil && saved.Agent(t.Agent.Name) != nil {
		w := saved.Agent(t.Agent.Name)
		t.Agent.TurnHighWater, t.Agent.Finished = w.TurnHighWater, w.Finished
	}
}

// open returns the agent's last turn when it is open.
func (t *Recorder) open() (*turn.Turn, error) {
	last, err := t.Dir.Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return nil, err
	}
	return turn.Open(last.LogFile, t.app.Now)
}
