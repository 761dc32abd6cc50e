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
	"paw/worktree/states"
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
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	r := &rewinding{Agent: h.Agent(s, w), kind: session.ShiftRewind, dryRun: o.DryRun, again: fmt.Sprintf("paw rewind %s/%s %d", s.Name, agentName, n)}
	r.target = func(t *turns.Recorder) (string, error) {
		if n == 0 {
			err := turns.BeginThere(ctx, t.Agent)
			return t.Record.Start(), err
		}
		list, _, err := turns.List(ctx, t.Agent)
		if err != nil {
			return "", err
		}
		byForce := turns.Force{Yes: o.Force, Command: fmt.Sprintf("paw rewind %s %d --force", agentName, n)}
		return turns.EndOf(ctx, t.Agent, list, fmt.Sprint(n), byForce)
	}
	r.state = func(c *turns.Chain, commit string) (string, error) { return c.At(ctx, n, commit) }
	r.remembers = func(last *turn.Record) string {
		if last == nil || last.Number <= n {
			return ""
		}
		if last.Number == n+1 {
			return fmt.Sprintf("the conversation of %s still remembers turn %d", agentName, last.Number)
		}
		return fmt.Sprintf("the conversation of %s still remembers turns %d to %d", agentName, n+1, last.Number)
	}
	r.to = func(*session.Agent, int) (int, string) { return n, EndOfTurn(n) }
	return r.run(ctx)
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
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	r := &rewinding{Agent: h.Agent(s, w), kind: session.ShiftUndo, dryRun: dryRun, again: fmt.Sprintf("paw rewind %s/%s --undo", s.Name, agentName)}
	r.target = func(t *turns.Recorder) (string, error) {
		last := t.LastMove
		if !dryRun {
			if ended, err := t.Repo.Moves().EndMoveIn(ctx, t.Record.WorktreePath); err != nil {
				return "", app.Conflict(err)
			} else if ended != nil { // that one is what the user wants undone
				h.Notef("%s: %s", agentName, ended)
				last = t.LastRewind
			}
		}
		if err := r.refuseLater(t); err != nil {
			return "", err
		}
		rescue, commit, err := last(ctx)
		r.state = func(c *turns.Chain, commit string) (string, error) { return c.Back(ctx, rescue, commit) }
		if err == nil && commit == "" {
			err = errs.New(errs.NotFound, "%s: nothing was rewound", agentName).Hint("paw turns %s %s", s.Name, agentName)
		}
		return commit, err
	}
	r.remembers = func(*turn.Record) string { return "" }
	r.to = undone
	return r.run(ctx)
}

// refuseLater refuses to take back a move that turns have come after: it would take them off too.
func (r *rewinding) refuseLater(t *turns.Recorder) error {
	w := *r.Record
	turns.SettleShift(t.Repo, &w) // without a move that was killed before it took place
	i := len(w.Shifts) - 1
	for i >= 0 && w.Shifts[i].Kind == session.ShiftStay {
		i--
	}
	now := turn.NumberOf(r.last)
	if i < 0 || w.Shifts[i].Last >= now {
		return nil
	}
	shift, what := w.Shifts[i], "rewind"
	if last, _ := w.LastShift(); last != nil && last.Kind == session.ShiftUpdate {
		what = "update"
	}
	had := fmt.Sprintf("turn %d", now)
	if shift.Last+1 < now {
		had = fmt.Sprintf("turns %d-%d", shift.Last+1, now)
	}
	return errs.New(errs.Refused, "%s: has had %s since that %s, which --undo would take off too", r.Record.Name, had, what).
		Hint("paw rewind %s/%s %d", r.Session.Name, r.Record.Name, shift.Last).Hint("paw turns %s/%s", r.Session.Name, r.Record.Name)
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

// rewinding is a rewind, or the undo of one, while it is carried out.
type rewinding struct {
	app.Agent
	kind      session.ShiftKind
	dryRun    bool
	again     string                                                  // command that repeats the rewind
	target    func(*turns.Recorder) (commit string, err error)        // finds the state to put the worktree to
	state     func(c *turns.Chain, commit string) (string, error)     // finds that state in the chain
	remembers func(last *turn.Record) string                          // note on the turns that are still in the CLI's conversation
	to        func(w *session.Agent, last int) (at int, words string) // returns the turn that the worktree will be at, and the words for it
	last      *turn.Record                                            // last turn of the agent, nil for none
	done      Rewound
}

// rewindPatience bounds a rewind: a filter of the user that hangs must not keep the agent's lock.
const rewindPatience = 10 * time.Minute

// run puts the worktree to the target.
func (r *rewinding) run(ctx context.Context) (*Rewound, error) {
	if err := r.App.RequireGit(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, rewindPatience)
	defer cancel()
	if !r.dryRun {
		turns.CloseDead(ctx, r.App, r.Session, r.Record.Name)
	}
	r.done = Rewound{Session: r.Session.Name, Agent: r.Record.Name, Planned: r.dryRun}
	if err := turns.Change(ctx, r.Agent, func(t *turns.Recorder) error { return r.move(ctx, t) }); err != nil {
		return nil, err
	}
	return &r.done, nil
}

// move refuses an agent that is not at rest, and moves its worktree; a dry run only looks.
func (r *rewinding) move(ctx context.Context, t *turns.Recorder) error {
	f, err := observe.RefuseNotAtRest(ctx, r.App, r.Session, r.Record.Name)
	if err == nil {
		err = observe.RefuseGone(f, r.Record.Name)
	}
	if err == nil {
		err = observe.RefuseMovedBranch(ctx, t.Repo, r.Record)
	}
	if err != nil {
		return err
	}
	if r.last, err = t.Dir.Last(); err != nil {
		return err
	}
	commit, err := r.target(t)
	if err != nil {
		return err
	}
	r.done.Remembers = r.remembers(r.last)
	if r.dryRun {
		settled := *r.Record
		turns.SettleShift(t.Repo, &settled)
		r.done.At, r.done.To = r.to(&settled, turn.NumberOf(r.last))
		return r.look(ctx, t, commit)
	}
	newest, _, err := t.LastRewind(ctx)
	if err != nil {
		return err
	}
	if err := r.takeMoved(ctx, t); err != nil {
		return err
	}
	rescue := turn.RewindRef(r.Record.TurnSession, r.App.Now(), newest)
	now, err := r.intend(ctx, t, rescue, commit)
	if err != nil {
		return err
	}
	done, err := t.Repo.Moves().Rewind(ctx, r.Record.WorktreePath, commit, worktree.RewindOptions{
		Rescue: rescue, Command: "paw rewind", Session: r.Session.Name, Step: func(name string) { r.App.Step("rewind." + name) },
	})
	if err != nil {
		return errors.Join(r.refused(app.Unmoved(err, r.Record.Name+": not rewound", r.again)), r.withdraw(ctx, err))
	}
	r.App.Step("rewind.moved")
	r.done.RescueRef, r.done.Head, r.done.Changed, r.done.Untouched = done.Ref, done.Head, done.Changed, done.NotSaved
	if err := r.follow(ctx, t, now); err != nil {
		return err
	}
	return r.note(ctx)
}

// takeMoved records the state of the worktree if HEAD has moved since the last one, as by a git merge of the user. Commits
// that came with that would count as the agent's work once the rewind is undone.
func (r *rewinding) takeMoved(ctx context.Context, t *turns.Recorder) error {
	chain, err := turns.ChainOf(ctx, t.Agent)
	if err != nil {
		return err
	}
	head, err := t.Repo.Refs().WorktreeHead(ctx, r.Record.WorktreePath)
	if err != nil || head == chain.Now().Head {
		return err
	}
	shot, err := turns.Now(ctx, t.Agent)
	if err != nil || len(shot.NotSaved) > 0 {
		return nil //nolint:nilerr // the move itself refuses then, and says why
	}
	_, err = turns.Continue(ctx, t.Agent, shot.Commit, turns.HeadOf(shot), turns.Present(t.Agent))
	return err
}

// refused adds a look at the worktree to a refusal without a hint.
func (r *rewinding) refused(err error) error {
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind == errs.Refused && len(e.Hints) == 0 {
		return e.Hint("git -C %s status --ignored", errs.Quote(r.Record.WorktreePath))
	}
	return err
}

// look counts the files that would change, and lists the nested repositories that would stay.
func (r *rewinding) look(ctx context.Context, t *turns.Recorder, commit string) error {
	m, drop, err := t.Repo.WithScratch()
	if err != nil {
		return err
	}
	defer drop()
	now, err := turns.Now(ctx, t.In(m))
	if err != nil {
		return err
	}
	if now.Cause != nil {
		return app.Unfiltered(errs.New(errs.Refused, "%s: not rewound: %s cannot be saved: %w", r.Record.Name, strings.Join(now.NotSaved, ", "), now.Cause),
			"git -C "+errs.Quote(r.Record.WorktreePath)+" status")
	}
	paths, err := m.Objects().ChangedPaths(ctx, now.Commit, commit)
	r.done.Changed, r.done.Untouched = len(paths), now.NotSaved
	return err
}

// intend writes the coming position of the worktree into the record before the move: landing
// and the list of turns depend on it, also if paw is killed between the move and note. It returns
// the state in the chain that the move leads to.
func (r *rewinding) intend(ctx context.Context, t *turns.Recorder, rescue, commit string) (now string, err error) {
	last := turn.NumberOf(r.last)
	goal, err := t.Repo.Objects().State(ctx, commit)
	if err != nil {
		return "", err
	}
	_, err = r.App.Update(ctx, r.Session.Name, func(rec *session.Session) error {
		w := rec.Agent(r.Record.Name)
		if w == nil {
			return nil
		}
		if err := turns.SettleMove(ctx, r.App.Agent(rec, w).In(t.Repo)); err != nil {
			return err
		}
		c, err := turns.ChainOf(ctx, r.App.Agent(rec, w).In(t.Repo))
		if err != nil {
			return err
		}
		if now, err = r.state(c, commit); err != nil {
			return err
		}
		c.Remember(states.State{Twin: now, Head: goal.Head})
		r.done.At, r.done.To = r.to(w, last)
		rec.Shifted(r.Record.Name, session.Shift{Kind: r.kind, To: r.done.At, Last: last, Rescue: rescue, Head: goal.Head, Was: c.Was(), Now: now})
		return nil
	})
	r.App.Step("rewind.intended")
	return now, err
}

// follow makes the state that the worktree was moved to the newest one of the chain.
func (r *rewinding) follow(ctx context.Context, t *turns.Recorder, now string) error {
	c, err := turns.ChainOf(ctx, t.Agent)
	if err == nil {
		err = c.Moved(context.WithoutCancel(ctx), now, r.done.Head, r.done.RescueRef)
	}
	r.App.Step("rewind.followed")
	return err
}

// withdraw removes the entry of intend from the record, unless the worktree is half moved.
func (r *rewinding) withdraw(ctx context.Context, cause error) error {
	if _, ok := errors.AsType[*worktree.HalfMovedError](cause); ok {
		return nil
	}
	return r.App.UpdateAgent(context.WithoutCancel(ctx), r.Session.Name, r.Record.Name, (*session.Agent).DropShift)
}

// note writes the position of the worktree into the record after the move, for the list of turns.
func (r *rewinding) note(ctx context.Context) error {
	number, done := turn.NumberOf(r.last), &r.done
	if r.kind == session.ShiftUndo && done.RescueRef == "" { // the rewind to undo was interrupted before it changed anything
		done.At, done.To = number, "rewind undone"
		return r.withdraw(ctx, nil)
	}
	return r.App.UpdateAgent(ctx, r.Session.Name, r.Record.Name, func(w *session.Agent) {
		if len(w.Shifts) == 0 {
			return
		}
		was := w.Rewound
		w.SettleShift(func(string) (bool, error) { return true, nil })
		w.Rewound.MovedTo(done.Head)
		if done.RescueRef != "" {
			return
		}
		if was != nil && was.Last == number { // nothing changed, so --undo goes back to the state before the previous rewind
			w.Rewound.From = was.From
		}
		w.Shifts[len(w.Shifts)-1].Kind = session.ShiftStay
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
		lines[0] = fmt.Sprintf("%s: %s (%.10s, %s changed); %s takes it back",
			r.Agent, r.To, r.Head, errs.Counted(r.Changed, "file"), errs.Line("paw rewind %s/%s --undo", r.Session, r.Agent))
	}
	if len(r.Untouched) > 0 {
		lines = append(lines, "repositories of their own stay as they are: "+strings.Join(r.Untouched, ", "))
	}
	if r.Remembers != "" {
		lines = append(lines, r.Remembers)
	}
	return strings.Join(lines, "\n")
}
