// Package turns begins and ends the turns of agents, with their logs, refs and tags, and lists and
// compares them.
//
// Everything that changes turns is a method of Recorder, which Change provides while it holds the
// agent's turn lock: lifecycle.go begins and ends turns, recorder.go applies reports of hooks, and
// acts in place of hooks for CLIs without any, cut.go finds what no hook reported and closes what a
// dead CLI left open. The package may import orchestrator/app, live, observe and
// transcript. Begin with recorder.go and lifecycle.go.
package turns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/snapshot"
)

// Recorder changes the turns of one agent: log, refs and record. Its methods require the agent's
// turn lock.
type Recorder struct {
	app.Agent
	Dir    turn.Dir
	budget snapshot.Budget
	Strict bool   // an existing tag of the next number is an error, for callers that can report one
	Launch string // launch whose hook reports, "" without a hook
	Ended  bool   // set when a turn has ended
	Held   bool   // set when a turn may have ended
	Joined bool   // set when a prompt has joined a turn, or waits behind it

	Started func() // called when a turn has begun, before the snapshot of the state before it; may be nil
}

// Change calls change while it holds the turn lock of an agent.
func Change(ctx context.Context, a app.Agent, change func(*Recorder) error) error {
	m, err := a.App.ManagerOf(ctx, a.Session)
	if err != nil {
		return err
	}
	unlock, err := a.App.Hold(ctx, a.App.Locks.Turn, a.Session.Name, a.Record.Name)
	if err != nil {
		return err
	}
	defer unlock()
	m, done := m.Remembering().Writing()
	defer done()
	return change(&Recorder{Agent: a.In(m), Dir: a.TurnDir(),
		budget: snapshot.Budget{
			Time:  time.Duration(a.App.Config.Turns.SnapshotSeconds) * time.Second,
			Bytes: int64(a.App.Config.Turns.SnapshotMiB) << 20,
		},
	})
}

// remember records the highest number and, by count, the finished turns, so that both survive a
// loss of logs and refs. What a power loss removes from the record, recover counts again from the
// logs.
func (t *Recorder) remember(ctx context.Context, n int, count func(*session.Finished)) {
	finished := t.Record.Finished
	if count(&finished); t.Record.TurnHighWater >= n && finished == t.Record.Finished {
		return
	}
	saved, err := t.App.UpdateSoon(ctx, t.Session.Name, func(rec *session.Session) error {
		if w := rec.Agent(t.Record.Name); w != nil {
			w.TurnHighWater = max(w.TurnHighWater, n)
			count(&w.Finished)
		}
		return nil
	})
	if err == nil && saved.Agent(t.Record.Name) != nil {
		w := saved.Agent(t.Record.Name)
		t.Record.TurnHighWater, t.Record.Finished = w.TurnHighWater, w.Finished
	}
}

// BeginIfOwn begins a turn for a CLI without hooks: nothing but the typed prompt will ever report
// it. The turn settles the wait in a copy of the record: the caller looks for the wait afterwards.
func BeginIfOwn(ctx context.Context, a app.Agent, prompt string) error {
	if cli, known := a.App.CLIs.Get(a.Record.CLI); known && cli.Facts().Unseen {
		record := *a.Record
		a.Record = &record
		return BeginOwn(ctx, a, prompt)
	}
	return nil
}

// EndOwn finishes the open turn of a CLI without hooks, whose end nothing else reports.
func EndOwn(ctx context.Context, a app.Agent) error {
	return Change(ctx, a, func(t *Recorder) error { return t.do(ctx, turn.Action{Do: turn.ActFinish}) })
}

// BeginOwn starts a turn of a CLI without hooks, after it has closed the one before, whose end was
// not seen.
func BeginOwn(ctx context.Context, a app.Agent, prompt string) error {
	return Change(ctx, a, func(t *Recorder) error {
		for _, action := range []turn.Action{
			{Do: turn.ActNote, Text: "its end was not seen; the next prompt closed it"}, {Do: turn.ActFinish},
			{Do: turn.ActStart, Start: &turn.Start{Type: turn.TypePrompt, Prompt: prompt}},
		} {
			if err := t.do(ctx, action); err != nil {
				return err
			}
		}
		return nil
	})
}

// launchOf returns the id of the agent's running launch.
func launchOf(a app.Agent) string {
	lock, err := a.ProbeLock()
	if err != nil {
		return ""
	}
	return observe.LaunchID(a.Session.Name, a.Record.Name, lock.Holder.Generation)
}

// SomethingQueued marks that a prompt waits behind a turn, for CLIs that do not report when it
// begins: their hooks then report tools, too.
func SomethingQueued(h *app.App, sessionName, agentName string) {
	_ = os.WriteFile(QueuedMark(h, sessionName, agentName), nil, 0o600)
}

// NothingQueued removes the mark of SomethingQueued.
func NothingQueued(h *app.App, sessionName, agentName string) {
	_ = os.Remove(QueuedMark(h, sessionName, agentName))
}

// QueuedMark returns the file that exists while a prompt waits behind a turn.
func QueuedMark(h *app.App, sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), cli.QueuedMark)
}

// Exits reports whether an event says that the CLI is about to exit.
func Exits(e turn.Event) bool {
	return e.Kind == turn.KindSessionEnd && e.Source != turn.SourceClear && e.Source != turn.SourceResume
}

// ForeignConversation reports whether an event belongs to another conversation than the agent's: a
// nested one, for example of a headless turn that the agent itself runs. The agent's conversation
// changes only when the CLI reports that it goes on with another. copilot reports the latter as a
// new conversation, like its first one, and may report the first prompt earlier.
func ForeignConversation(facts cli.Facts, current string, e turn.Event) bool {
	if !facts.ChoosesID || current == "" || e.Conversation == "" || e.Conversation == current {
		return false
	}
	switch e.Kind {
	case turn.KindPrompt:
		return !facts.OwnHooks
	case turn.KindSessionStart:
	default:
		return true
	}
	switch e.Source {
	case turn.SourceClear, turn.SourceResume, turn.SourceFork, turn.SourceCompact:
		return false
	}
	return !facts.OwnHooks
}

// Take applies one event to the agent's turns.
func (t *Recorder) Take(ctx context.Context, e turn.Event) error {
	last, err := t.Dir.Last()
	if err != nil {
		return err
	}
	missed, e := t.missed(ctx, last, e)
	if last, err = t.applyAll(ctx, last, missed); err != nil {
		return err
	}
	e.Beside = t.beside(ctx, last, e)
	if e.Transcript != "" && e.Transcript != t.Record.TranscriptPath {
		if err := t.KeepTranscript(ctx, e.Transcript); err != nil {
			return err
		}
	}
	leaves := e.Kind == turn.KindSessionEnd || e.Kind == turn.KindInterrupt
	if leaves && t.Record.Phase != session.PhaseLive && t.Record.Phase != session.PhaseCreating {
		// paw is ending this CLI: its interrupt and exit are not the user's.
		return t.do(ctx, turn.Action{Do: turn.ActAbort, Abort: &turn.Abort{Reason: turn.ReasonStopped}})
	}
	if leaves && last != nil && last.State == turn.InProgress {
		if died := t.died(); died != "" {
			return t.do(ctx, turn.Action{Do: turn.ActAbort, Abort: &turn.Abort{Reason: turn.ReasonCrash, Message: died}})
		}
	}
	return errors.Join(t.apply(ctx, last, e), t.moved(last, e))
}

// moved records where the CLI works by an event of the last turn: what it does outside of the agent's worktree is in no
// turn. The end of a conversation tells where that was: codex ends the one that it has left a minute later.
func (t *Recorder) moved(last *turn.Record, e turn.Event) error {
	folder := worktree.Outside(e.Folder, t.Record.WorktreePath, t.Session.GitCommonDir)
	if e.Folder == "" || e.Child || e.Kind == turn.KindSessionEnd || folder == "" && (last == nil || last.Folder == "") {
		return nil
	}
	last, err := t.Dir.Last()
	if err != nil || last == nil || last.Launch != t.Launch || last.Folder == folder {
		return err
	}
	one, err := turn.Open(last.LogFile, t.App.Now)
	if err != nil {
		return err
	}
	if folder == "" {
		return one.Moved("", "it works in its worktree again")
	}
	return one.Moved(folder, fmt.Sprintf(session.ReasonElsewhere, folder))
}

// beside reports whether an event comes while a conversation other than the event's works for the
// open turn.
func (t *Recorder) beside(ctx context.Context, last *turn.Record, e turn.Event) bool {
	if last == nil || last.State != turn.InProgress || last.Launch != t.Launch || e.Conversation == "" ||
		e.Conversation == last.Conversation && len(last.Others) == 0 {
		return false
	}
	working := observe.AskRecord(ctx, t.Agent, last).Working
	return slices.ContainsFunc(working, func(id string) bool { return id != e.Conversation })
}

// died tells what killed a CLI that reports its exit, "" for nothing: the tmux server, or the first
// of two processes of the CLI, whose end closes the terminal. qwen, gemini and copilot consist of
// two processes, of which the first waits for the second.
func (t *Recorder) died() string {
	lock, err := t.ProbeLock()
	switch {
	case t.Session.Tmux.ServerPID != 0 && !app.ServerLives(t.Session): // CLIs in its panes may still report their exit
		return "its tmux server died"
	case err == nil && lock.Holder.PID != 0 && !lock.HolderAlive:
		return "its process was killed"
	}
	return ""
}

// apply carries out the actions that follow from an event.
func (t *Recorder) apply(ctx context.Context, last *turn.Record, e turn.Event) error {
	for _, action := range turn.Decide(last, e) {
		if err := t.do(ctx, action); err != nil {
			return fmt.Errorf("%s: %w", action.Do, err)
		}
	}
	return nil
}

// do carries out one action; those about an open turn are nothing where there is none.
func (t *Recorder) do(ctx context.Context, action turn.Action) error {
	switch action.Do {
	case turn.ActStart:
		start := *action.Start
		if start.Launch = t.Launch; start.Launch == "" { // no hook has reported the turn: it belongs to the running launch
			start.Launch = launchOf(t.Agent)
		}
		_, err := t.Begin(ctx, start)
		return err
	case turn.ActConversation:
		return KeepConversation(ctx, t.Agent, action.Text)
	case turn.ActExecute, turn.ActHold, turn.ActAwait, turn.ActInput, turn.ActLimit, turn.ActAnswered, turn.ActFinish, turn.ActAbort, turn.ActNote:
	}
	last, err := t.Dir.Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return err
	}
	one, err := turn.Open(last.LogFile, t.App.Now)
	if err != nil {
		return err
	}
	switch action.Do {
	case turn.ActExecute:
		if err := one.Joined(action.Text, action.TurnID, action.Conversation); err != nil {
			return err
		}
		t.Joined = true
	case turn.ActInput:
		return one.Input(action.Text, action.Conversation)
	case turn.ActLimit:
		return one.Limited(action.Limit, action.Text)
	case turn.ActAnswered:
		return one.Resumed()
	case turn.ActHold:
		return t.hold(ctx, one, action.Text)
	case turn.ActAwait:
		return one.Await(action.Subagents, action.Text)
	case turn.ActFinish:
		_, err = t.Finish(ctx, one, action.Text)
		return err
	case turn.ActAbort:
		return t.Abort(ctx, one, action.Abort)
	case turn.ActNote:
		return one.Note(action.Text)
	case turn.ActStart, turn.ActConversation:
	}
	return nil
}

// KeepConversation records that an agent goes on with another conversation.
func KeepConversation(ctx context.Context, a app.Agent, id string) error {
	if id == "" || a.Record.Conversation() == id {
		return nil
	}
	a.Record.AddConversation(id)
	return a.App.UpdateAgent(ctx, a.Session.Name, a.Record.Name, func(w *session.Agent) { w.AddConversation(id) })
}

// KeepTranscript records the file of the agent's conversation.
func (t *Recorder) KeepTranscript(ctx context.Context, path string) error {
	t.Record.TranscriptPath = path
	return t.App.UpdateAgent(ctx, t.Session.Name, t.Record.Name, func(w *session.Agent) { w.TranscriptPath = path })
}

// applyAll applies events in order, and returns the last turn.
func (t *Recorder) applyAll(ctx context.Context, last *turn.Record, events []turn.Event) (*turn.Record, error) {
	for _, one := range events {
		err := t.apply(ctx, last, one)
		if err == nil {
			last, err = t.Dir.Last()
		}
		if err != nil {
			return last, err
		}
	}
	return last, nil
}
