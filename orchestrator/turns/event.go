package turns

import (
	"context"
	"fmt"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

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
		one, err := t.open()
		if err == nil && one != nil {
			err = t.Abort(ctx, one, &turn.Abort{Reason: turn.ReasonStopped})
		}
		return err
	}
	if leaves && last != nil && last.State == turn.InProgress {
		if died := t.died(); died != "" {
			one, err := t.open()
			if err == nil && one != nil {
				err = t.Abort(ctx, one, &turn.Abort{Reason: turn.ReasonCrash, Message: died})
			}
			return err
		}
	}
	return t.apply(ctx, last, e)
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
		return t.KeepConversation(ctx, action.Text)
	case turn.ActExecute, turn.ActHold, turn.ActAwait, turn.ActInput, turn.ActLimit, turn.ActAnswered, turn.ActFinish, turn.ActAbort, turn.ActNote:
	}
	one, err := t.open()
	if err != nil || one == nil {
		return err
	}
	switch action.Do {
	case turn.ActExecute:
		if err := one.Joined(action.Text, action.TurnID, action.Conversation); err != nil {
			return err
		}
		t.Joined = true
		return t.heard(ctx, action.Text)
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

// KeepConversation records that the agent goes on with another conversation.
func (t *Recorder) KeepConversation(ctx context.Context, id string) error {
	if id == "" || t.Record.Conversation() == id {
		return nil
	}
	t.Record.AddConversation(id)
	return t.App.UpdateAgent(ctx, t.Session.Name, t.Record.Name, func(w *session.Agent) { w.AddConversation(id) })
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
