package turns

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// Cut closes the turn that was open when its CLI ended without a report, and turns after it that no
// hook reported: with the end in the CLI's own record, else aborted for reason, with a snapshot. A
// failure is logged: it must not keep paw from stopping or recovering.
func Cut(ctx context.Context, a app.Agent, reason turn.Reason) {
	last, err := a.TurnDir().Last()
	if err != nil || last == nil {
		return
	}
	unsaved := last.State == turn.Aborted && len(last.Notes) == 0
	if !unsaved && last.State != turn.InProgress && len(observe.AskRecord(ctx, a, last).Later) == 0 {
		return
	}
	record := *a.Record // the caller goes on with the record that it has
	a.Record = &record
	err = Change(ctx, a, func(t *Recorder) error {
		if unsaved {
			if err := t.saveAborted(ctx, last); err != nil {
				return err
			}
		}
		if err := t.takeMissed(ctx); err != nil {
			return err
		}
		return t.do(ctx, turn.Action{Do: turn.ActAbort, Abort: &turn.Abort{Reason: reason}})
	})
	if err != nil {
		a.App.HookLog().Add(a.Record.CLI, string(reason), err)
	}
}

// saveAborted takes the snapshot of an aborted turn, unless there is one: its hook may have been killed before it could.
func (t *Recorder) saveAborted(ctx context.Context, last *turn.Record) error {
	for _, ref := range []string{turn.TurnRef(t.Record.TurnSession, last.Number), turn.HeadRef(t.Record.TurnSession, last.Number)} {
		if at, err := t.Repo.Refs().Read(ctx, ref); at != "" || err != nil {
			return err
		}
	}
	one, err := turn.Open(last.LogFile, t.App.Now)
	if err != nil {
		return err
	}
	if _, note := t.snapshotAfter(ctx, last.Number, ", "+string(last.Reason)); note != "" {
		return one.Note(note)
	}
	return nil
}

// CloseCut does what a crash kept hooks from doing: it aborts the open turns of agents whose CLI
// ended, and tags finished turns without a tag.
func CloseCut(ctx context.Context, h *app.App, f observe.Facts) {
	for _, a := range f.Agents {
		cutDead(ctx, h, f, a)
		tagFinished(ctx, h.Agent(f.Session, &a.Record))
	}
}

// CloseDead closes the open turns of agents whose CLI ended, before a command writes to their
// worktrees or ends them: a turn ends with the files that its CLI left. Where a move of files or
// the end of an agent was interrupted, recover finishes that first and closes the turn afterwards.
func CloseDead(ctx context.Context, h *app.App, s *session.Session, agents ...string) {
	inTurn := func(name string) bool {
		last, err := h.TurnDir(s.Name, name).Last()
		w := s.Agent(name)
		return err == nil && last != nil && last.State == turn.InProgress && w != nil && observe.RefuseUnfinished(s, w) == nil &&
			observe.RefuseHalfMoved(ctx, h, s, name) == nil
	}
	open := slices.DeleteFunc(slices.Clone(agents), func(name string) bool { return !inTurn(name) })
	if len(open) == 0 {
		return
	}
	f, err := observe.Revived(ctx, h, s)
	if err != nil {
		return
	}
	for _, a := range f.Agents {
		if slices.Contains(open, a.Record.Name) {
			cutDead(ctx, h, f, a)
		}
	}
}

// cutDead calls Cut for an agent whose CLI has ended.
func cutDead(ctx context.Context, h *app.App, f observe.Facts, a observe.Agent) {
	if a.Lock.State == session.LockFree {
		Cut(ctx, h.Agent(f.Session, &a.Record), f.Observation(a).CutReason())
	}
}

// tagFinished makes missing tags of the start and of finished turns, on their recorded commits. A
// hook may have failed to make one, or a pruning fetch may have deleted it.
func tagFinished(ctx context.Context, a app.Agent) {
	if a.Record.Phase == session.PhaseCreating {
		return // launch.BringUp tags the start
	}
	err := Change(ctx, a, func(t *Recorder) error {
		results := []turn.Result{{CommitHash: a.Record.BaseCommit}} // turn 0 is the start
		var counted session.Finished
		records, _ := t.Dir.Records()
		for _, r := range records {
			if result, ok := r.Result(); ok {
				results = append(results, result)
				counted.Add(result.Number)
			}
		}
		t.remember(ctx, counted.Last, func(f *session.Finished) {
			if counted.Last >= f.Last { // some logs may be gone
				*f = counted
			}
		})
		tags, failed := Tags(ctx, t.Repo, a.Record.TurnSession)
		if failed != nil {
			return failed
		}
		for _, result := range results {
			commit, there := tags[result.Number]
			switch {
			case result.CommitHash == "" || !there && !t.Repo.Objects().Has(ctx, result.CommitHash):
			case there:
				failed = errors.Join(failed, tagElsewhere(a.Session, *a.Record, result.Number, commit, result.CommitHash))
			default:
				failed = errors.Join(failed, t.tag(ctx, result))
				a.App.Step("recover.tagged")
			}
		}
		return failed
	})
	if err != nil {
		a.App.Notef("%s: not all tags of its turns are as they should be: %v", a.Record.Name, err)
	}
}

// TakeMissed writes what the CLI's own record has of an agent's turns into their logs, and reports
// whether a turn has ended.
func TakeMissed(ctx context.Context, a app.Agent) (ended bool, err error) {
	err = Change(ctx, a, func(t *Recorder) error {
		defer func() { ended = t.Ended }()
		return t.takeMissed(ctx)
	})
	return ended, err
}

// takeMissed applies what the CLI's own record tells about the last turn and later ones, as far as
// no hook reported it.
func (t *Recorder) takeMissed(ctx context.Context) error {
	last, err := t.Dir.Last()
	if err != nil || last == nil {
		return err
	}
	seen := observe.AskRecord(ctx, t.Agent, last)
	missed := seen.Later
	if last.State == turn.InProgress && seen.Ended != nil {
		missed = append([]turn.Event{*seen.Ended}, missed...)
	}
	_, err = t.applyAll(ctx, last, missed)
	return err
}

// CutOf returns the open turn of an agent whose CLI does not run, closed as recover will close it;
// nil where there is none.
func CutOf(ctx context.Context, h *app.App, f observe.Facts, a observe.Agent) *turn.Record {
	o := f.Observation(a)
	if o.CutTurn() != nil {
		o.Observed = observe.AskRecord(ctx, h.Agent(f.Session, &a.Record), o.Last)
	}
	return o.CutTurn()
}

// missed returns what hooks missed before e and the CLI's own record has, the end of the open turn
// and later turns, and the form in which e is applied after these. e may be the begin of the last of
// them.
func (t *Recorder) missed(ctx context.Context, last *turn.Record, e turn.Event) ([]turn.Event, turn.Event) {
	if last == nil || !mayBeBehind(last, e) {
		return nil, e
	}
	seen := observe.AskRecord(ctx, t.Agent, last)
	var missed []turn.Event
	if e.Kind == turn.KindInput && last.State == turn.InProgress && last.Waiting && seen.Known && seen.Busy {
		missed = append(missed, turn.Event{Kind: turn.KindAnswered})
	}
	ends := e.Kind == turn.KindPrompt || e.Kind == turn.KindSessionEnd || len(seen.Later) > 0
	goesOn := e.TurnID != "" && e.TurnID == last.TurnID && seen.Busy
	if last.State == turn.InProgress && seen.Ended != nil && ends && !goesOn {
		missed = append(missed, *seen.Ended)
	}
	later := seen.Later
	if e.Kind == turn.KindPrompt {
		later, e = reported(later, e)
		e = joining(last, seen.Joined, e)
	}
	missed = append(missed, later...)
	if n := len(missed); n > 0 && e.Kind == turn.KindSessionEnd && missed[n-1].Kind != turn.KindEnd && missed[n-1].Kind != turn.KindPrompt {
		// A CLI that exits may have been cut in the turn, whatever its record says: only a
		// successful end counts then.
		missed = missed[:n-1]
	}
	return missed, e
}

// mayBeBehind reports whether an event can follow something that no hook reported: the begin of a
// turn, the exit of the CLI, or an event of an unknown turn.
func mayBeBehind(last *turn.Record, e turn.Event) bool {
	switch e.Kind {
	case turn.KindPrompt, turn.KindSessionEnd:
		return true
	case turn.KindInput:
		return last.Waiting || e.TurnID != "" && e.TurnID != last.TurnID
	case turn.KindEnd, turn.KindError, turn.KindLimit, turn.KindAnswered, turn.KindTool:
		return e.TurnID != "" && e.TurnID != last.TurnID
	case turn.KindSessionStart, turn.KindInterrupt, turn.KindIdle:
	}
	return false
}

// reported removes the prompt that e reports from the end of later: a hook reports it after all.
// The record has the id under which the CLI will end the turn.
func reported(later []turn.Event, e turn.Event) ([]turn.Event, turn.Event) {
	n := len(later)
	if n == 0 || later[n-1].Kind != turn.KindPrompt || !samePrompt(later[n-1].Prompt, e.Prompt) {
		return later, e
	}
	e.Queued, e.TurnID = e.Queued || later[n-1].Queued, cmp.Or(later[n-1].TurnID, e.TurnID)
	return later[:n-1], e
}

// joining interprets the report of a prompt that the open turn has already taken: nothing if the
// turn began with that prompt, else the prompt joins the turn.
func joining(last *turn.Record, joined string, e turn.Event) turn.Event {
	switch {
	case last.State != turn.InProgress || joined == "" || !samePrompt(joined, e.Prompt):
	case last.Follows && len(last.OlderIDs) == 0 && samePrompt(string(last.Prompt), e.Prompt):
		return turn.Event{}
	default:
		e.Queued, e.TurnID = true, last.TurnID
	}
	return e
}

func samePrompt(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }
