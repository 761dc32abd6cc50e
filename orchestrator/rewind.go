package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Rewound is the result of a rewind.
type Rewound struct {
	Session   string
	Agent     string
	To        string   // state of the worktree, in words
	At        int      // turn whose end the worktree is at, 0 for before the first turn
	Head      string   // commit that HEAD is at
	Changed   int      // number of files written or removed
	Untouched []string // nested git repositories in the worktree, left as they are
	RescueRef string   // keeps the state before, for --undo; "" if nothing changed
	Remembers string   // note on the turns that are still in the CLI's conversation, "" for none
	Planned   bool     // a dry run: nothing was done and Head is ""
}

// RewindOptions says how Rewind goes about it.
type RewindOptions struct {
	Force  bool // accept a turn without a snapshot, and use its commit alone
	DryRun bool // only count the changes
}

// Rewind puts an agent's worktree back to the end of turn n, 0 being the agent's base. The current
// state is saved under a rescue ref first, for UndoRewind.
func Rewind(ctx context.Context, h *app.App, s *session.Session, agentName string, n int, o RewindOptions) (*Rewound, error) {
	return rewind(ctx, h, s, agentName, o.DryRun, fmt.Sprintf("paw rewind %s/%s %d", s.Name, agentName, n), session.ShiftRewind, func(t *turns.Recorder) (string, error) {
		if n == 0 {
			return t.Record.Start(), nil
		}
		list, _, err := turns.List(ctx, h.Agent(s, t.Record).In(t.Repo))
		if err != nil {
			return "", err
		}
		byForce := turns.Force{Yes: o.Force, Command: fmt.Sprintf("paw rewind %s %d --force", agentName, n)}
		return turns.EndOf(ctx, h.Agent(s, t.Record).In(t.Repo), list, fmt.Sprint(n), byForce)
	}, func(last *turn.Record) string {
		if last == nil || last.Number <= n {
			return ""
		}
		if last.Number == n+1 {
			return fmt.Sprintf("the conversation of %s still remembers turn %d", agentName, last.Number)
		}
		return fmt.Sprintf("the conversation of %s still remembers turns %d to %d", agentName, n+1, last.Number)
	}, func(*session.Agent, int) (int, string) { return n, EndOfTurn(n) })
}

// EndOfTurn returns the words for a worktree that was put back to the end of turn n.
func EndOfTurn(n int) string {
	if n == 0 {
		return "back before turn 1"
	}
	return fmt.Sprintf("back at the end of turn %d", n)
}

// UndoRewind restores the state from before the last rewind, also from before one that was
// interrupted.
func UndoRewind(ctx context.Context, h *app.App, s *session.Session, agentName string, dryRun bool) (*Rewound, error) {
	return rewind(ctx, h, s, agentName, dryRun, fmt.Sprintf("paw rewind %s/%s --undo", s.Name, agentName), session.ShiftUndo, func(t *turns.Recorder) (string, error) {
		if !dryRun {
			if ended, err := t.Repo.Moves().EndMoveIn(ctx, t.Record.WorktreePath); err != nil {
				return "", err
			} else if ended != nil {
				h.Notef("%s: %s", agentName, ended)
			}
		}
		_, commit, err := t.LastRewind(ctx)
		if err == nil && commit == "" {
			err = errs.New(errs.NotFound, "%s: nothing was rewound", agentName).Hint("paw turns %s %s", s.Name, agentName)
		}
		return commit, err
	}, func(*turn.Record) string { return "" }, undone)
}

// undone returns the turn that an agent's worktree is at after --undo, and the words for it; last
// is the number of the last turn.
func undone(w *session.Agent, last int) (at int, words string) {
	shift, again := w.LastShift()
	switch {
	case shift != nil && shift.Kind == session.ShiftUpdate && again:
		at = w.Rewound.At(last)
		return at, "with the last update again, " + afterTurn(at)
	case shift != nil && shift.Kind == session.ShiftUpdate:
		at = w.Rewound.At(last)
		return at, "update undone, " + afterTurn(at)
	case w.Rewound == nil:
		return last, "rewind undone"
	}
	return w.Rewound.From, "rewind undone, " + afterTurn(w.Rewound.From)
}

// afterTurn returns the words for a worktree at the end of turn n or with later edits.
func afterTurn(n int) string {
	if n == 0 {
		return "before turn 1"
	}
	return fmt.Sprintf("after turn %d", n)
}

// rewind puts a worktree to the commit that target returns; again is the command that repeats the
// rewind. to returns, from the agent and the number of its last turn, the turn that the worktree
// will be at, and the words for it.
func rewind(ctx context.Context, h *app.App, s *session.Session, agentName string, dryRun bool, again string, kind session.ShiftKind, target func(*turns.Recorder) (string, error),
	remembers func(*turn.Record) string, to func(w *session.Agent, last int) (at int, words string),
) (*Rewound, error) {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if !dryRun {
		turns.CloseDead(ctx, h, s, agentName)
	}
	rewound := &Rewound{Session: s.Name, Agent: agentName, Planned: dryRun}
	err = turns.Change(ctx, h.Agent(s, w), func(t *turns.Recorder) error {
		f, err := observe.RefuseNotAtRest(ctx, h, s, agentName)
		if err == nil {
			err = observe.RefuseGone(f, agentName)
		}
		if err != nil {
			return err
		}
		last, err := t.Dir.Last()
		if err != nil {
			return err
		}
		commit, err := target(t)
		if err != nil {
			return err
		}
		rewound.Remembers = remembers(last)
		if dryRun {
			rewound.At, rewound.To = to(w, turn.NumberOf(last))
			return rewound.look(ctx, h, t, commit)
		}
		newest, _, err := t.LastRewind(ctx)
		if err != nil {
			return err
		}
		rescue := turn.RewindRef(w.TurnSession, h.Now(), newest)
		if err := rewound.intend(ctx, h, t, kind, last, rescue, to); err != nil {
			return err
		}
		done, err := t.Repo.Moves().Rewind(ctx, w.WorktreePath, commit, worktree.RewindOptions{
			Rescue: rescue, Command: "paw rewind", Session: s.Name, Step: func(name string) { h.Step("rewind." + name) },
		})
		if err != nil {
			return errors.Join(app.Unmoved(err, agentName+": not rewound", again), rewound.withdraw(ctx, h, err))
		}
		rewound.RescueRef, rewound.Head, rewound.Changed, rewound.Untouched = done.Ref, done.Head, done.Changed, done.NotSaved
		return rewound.note(ctx, h, kind, last)
	})
	if err != nil {
		return nil, err
	}
	return rewound, nil
}

// look counts the files that would change, and lists the nested repositories that would stay.
func (r *Rewound) look(ctx context.Context, h *app.App, t *turns.Recorder, commit string) error {
	m, drop, err := t.Repo.WithScratch()
	if err != nil {
		return err
	}
	defer drop()
	now, err := turns.Now(ctx, h.Agent(t.Session, t.Record).In(m))
	if err != nil {
		return err
	}
	paths, err := m.Objects().ChangedPaths(ctx, now.Commit, commit)
	r.Changed, r.Untouched = len(paths), now.NotSaved
	return err
}

// intend writes the coming position of the worktree into the record before the move: landing
// depends on it, also if paw is killed between the move and note.
func (r *Rewound) intend(ctx context.Context, h *app.App, t *turns.Recorder, kind session.ShiftKind, last *turn.Record, rescue string, to func(w *session.Agent, last int) (at int, words string)) error {
	_, err := h.Update(ctx, r.Session, func(rec *session.Session) error {
		if w := rec.Agent(r.Agent); w != nil {
			turns.SettleShift(ctx, t.Repo, w)
			r.At, r.To = to(w, turn.NumberOf(last))
			rec.Shifted(r.Agent, kind, r.At, turn.NumberOf(last), rescue)
		}
		return nil
	})
	h.Step("rewind.intended")
	return err
}

// withdraw removes the entry of intend from the record, unless the worktree is half moved.
func (r *Rewound) withdraw(ctx context.Context, h *app.App, cause error) error {
	if _, ok := errors.AsType[*worktree.HalfMovedError](cause); ok {
		return nil
	}
	return h.UpdateAgent(context.WithoutCancel(ctx), r.Session, r.Agent, (*session.Agent).DropShift)
}

// note writes the position of the worktree into the record after the move, for the list of turns.
func (r *Rewound) note(ctx context.Context, h *app.App, kind session.ShiftKind, last *turn.Record) error {
	number := turn.NumberOf(last)
	if kind == session.ShiftUndo && r.RescueRef == "" { // the rewind to undo was interrupted before it changed anything
		r.At, r.To = number, "rewind undone"
		return r.withdraw(ctx, h, nil)
	}
	return h.UpdateAgent(ctx, r.Session, r.Agent, func(w *session.Agent) {
		if len(w.Shifts) == 0 {
			return
		}
		w.SettleShift(func(string) (bool, error) { return true, nil })
		if shift, _ := w.LastShift(); kind == session.ShiftUndo && shift != nil && shift.Kind == session.ShiftUpdate {
			w.Rewound.MovedTo(r.Head)
			return // undoing an update leaves the position among the turns
		}
		from := w.Rewound.At(number)
		if r.RescueRef == "" && w.Rewound != nil && w.Rewound.Last == number { // nothing changed, so --undo goes back to the state before the previous rewind
			from = w.Rewound.From
		}
		w.Rewound = &session.Rewound{To: r.At, From: from, Last: number, Head: r.Head}
		if r.RescueRef == "" {
			w.Shifts[len(w.Shifts)-1].Kind = session.ShiftStay
		}
	})
}

// String returns what happened and the command that undoes it.
func (r *Rewound) String() string {
	lines := []string{fmt.Sprintf("%s: %s (%.10s), nothing changed", r.Agent, r.To, r.Head)}
	switch {
	case r.Planned && r.Changed == 0:
		lines[0] = fmt.Sprintf("%s: %s, nothing would change (not done)", r.Agent, r.To)
	case r.Planned:
		lines[0] = fmt.Sprintf("%s: %s, %s would change (not done)", r.Agent, r.To, errs.Counted(r.Changed, "file"))
	case r.RescueRef != "":
		lines[0] = fmt.Sprintf("%s: %s (%.10s, %s changed); paw rewind %s/%s --undo takes it back",
			r.Agent, r.To, r.Head, errs.Counted(r.Changed, "file"), r.Session, r.Agent)
	}
	if len(r.Untouched) > 0 {
		lines = append(lines, "repositories of their own stay as they are: "+strings.Join(r.Untouched, ", "))
	}
	if r.Remembers != "" {
		lines = append(lines, r.Remembers)
	}
	return strings.Join(lines, "\n")
}
