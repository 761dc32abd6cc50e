// Package turns is the turns of agents: how one begins and ends, with its log, its refs and its tag, and how turns are
// listed and compared.
//
// Whatever changes turns is a method of Recorder, which Change hands out with the agent's turn lock held: lifecycle.go begins
// and ends turns, event.go applies what a hook reports, cut.go finds what no hook reported and closes what a dead CLI left
// open, and recorder.go itself plays the part of the hooks for CLIs without any. The room may import orchestrator/app, live,
// observe and transcript. Begin with recorder.go and lifecycle.go.
package turns

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
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

// BeginIfOwn begins the turn of a CLI without hooks: that paw typed the prompt is
// all that will ever be known of it. w is a copy: the turn settles the wait in it.
func BeginIfOwn(ctx context.Context, h *app.App, s *session.Session, w session.Agent, prompt string) error {
	if cli, known := h.CLIs.Get(w.CLI); known && cli.Facts().Unseen {
		return BeginOwn(ctx, h, s, &w, prompt)
	}
	return nil
}

// EndOwn finishes the open turn of a CLI without hooks: nobody else would
// see its end.
func EndOwn(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) error {
	return Change(ctx, h, s, w, func(t *Recorder) error {
		one, err := t.open()
		if err != nil || one == nil {
			return err
		}
		_, err = t.Finish(ctx, one, "")
		return err
	})
}

// BeginOwn starts a turn of a CLI without hooks: paw typed its prompt, so it
// knows the begin. The end of the one before was not seen.
func BeginOwn(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, prompt string) error {
	return Change(ctx, h, s, w, func(t *Recorder) error {
		one, err := t.open()
		if err != nil {
			return err
		}
		if one != nil {
			if err := one.Note("its end was not seen; the next prompt closed it"); err != nil {
				return err
			}
			if _, err := t.Finish(ctx, one, ""); err != nil {
				return err
			}
		}
		_, err = t.Begin(ctx, turn.Start{Type: turn.TypePrompt, Prompt: prompt, Launch: launchOf(h, s, w)})
		return err
	})
}

// launchOf is the launch of an agent that runs.
func launchOf(h *app.App, s *session.Session, w *session.Agent) string {
	lock, err := h.Locks.ProbeAgent(s.Name, w.Name)
	if err != nil {
		return ""
	}
	return observe.LaunchID(s.Name, w.Name, lock.Holder.Generation)
}

// SomethingQueued marks that a prompt waits behind a turn, for CLIs that do not report when they begin with it: then
// their hooks report tools, too.
func SomethingQueued(h *app.App, sessionName, agentName string) {
	_ = os.WriteFile(QueuedMark(h, sessionName, agentName), nil, 0o600)
}

// NothingQueued takes the mark of SomethingQueued away.
func NothingQueued(h *app.App, sessionName, agentName string) {
	_ = os.Remove(QueuedMark(h, sessionName, agentName))
}

// QueuedMark is the file that is there while a prompt waits behind a turn.
func QueuedMark(h *app.App, sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), cli.QueuedMark)
}

// countFinished counts what finishedTurns found.
func countFinished(results []turn.Result) session.Finished {
	counted := session.Finished{}
	for _, r := range results {
		counted.Add(r.Number)
	}
	return counted
}

// finishedTurns are the results of the start, as turn 0, and of the finished turns. Logs that cannot be read give none.
func finishedTurns(w *session.Agent, dir turn.Dir) []turn.Result {
	results := []turn.Result{{CommitHash: w.BaseCommit}}
	records, _ := dir.Records()
	for _, r := range records {
		if result, ok := r.Result(); ok {
			results = append(results, result)
		}
	}
	return results
}
