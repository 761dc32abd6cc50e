package orchestrator

import (
	"context"
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
	"paw/worktree/refs"
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
	r := &rewinding{Agent: h.Agent(s, w), dryRun: o.DryRun, again: h.Agent(s, w).Line("rewind", fmt.Sprintf("%s/%s %d", s.Name, agentName, n))}
	r.aim = func(t *turns.Recorder, _ *turn.Op) (goal aim, err error) {
		goal = aim{op: turn.Op{Kind: turn.OpRewind, At: n}, words: turn.EndOfTurn(n)}
		goal.state = func(c *turns.Chain) (string, error) { return c.At(ctx, n, goal.commit) }
		r.remembers(n)
		if n == 0 {
			err = turns.BeginThere(ctx, t.Agent)
			goal.commit = t.Record.Start()
			return goal, err
		}
		list, _, err := turns.List(ctx, t.Agent)
		if err == nil {
			byForce := turns.Force{Yes: o.Force, Command: t.Line("rewind", fmt.Sprintf("%s/%s %d", s.Name, agentName, n), app.With("force"))}
			goal.commit, err = turns.EndOf(ctx, t.Agent, list, fmt.Sprint(n), byForce)
		}
		return goal, err
	}
	return r.run(ctx)
}

// remembers notes which turns after turn n the conversation has.
func (r *rewinding) remembers(n int) {
	if last := turn.NumberOf(r.last); last == n+1 {
		r.done.Remembers = fmt.Sprintf("the conversation of %s still remembers turn %d", r.Record.Name, last)
	} else if last > n {
		r.done.Remembers = fmt.Sprintf("the conversation of %s still remembers turns %d to %d", r.Record.Name, n+1, last)
	}
}

// UndoRewind takes back the newest move of the worktree by paw, also one that was interrupted, as long as no turn
// has come after it.
func UndoRewind(ctx context.Context, h *app.App, s *session.Session, agentName string, dryRun bool) (*Rewound, error) {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	r := &rewinding{Agent: h.Agent(s, w), dryRun: dryRun, again: h.Agent(s, w).Line("rewind", s.Name+"/"+agentName, app.With("undo")), undo: true}
	r.aim = func(t *turns.Recorder, op *turn.Op) (goal aim, err error) {
		if op == nil || !t.Repo.Objects().Has(ctx, op.Files) || !t.Repo.Objects().Has(ctx, op.Before) {
			return goal, errs.New(errs.NotFound, "%s: nothing was rewound", agentName).Hint("paw turns %s/%s", s.Name, agentName)
		}
		goal = aim{commit: op.Files, op: turn.Op{Kind: op.Kind, Undone: !op.Undone, At: op.From}}
		goal.state = func(c *turns.Chain) (string, error) { return c.Back(ctx, *op) }
		goal.words = undoneBy(goal.op)
		return goal, r.refuseLater(*op)
	}
	return r.run(ctx)
}

// refuseLater refuses to take back a move that turns have come after: it would take them off too.
func (r *rewinding) refuseLater(op turn.Op) error {
	now := turn.NumberOf(r.last)
	if op.Last >= now {
		return nil
	}
	had := fmt.Sprintf("turn %d", now)
	if op.Last+1 < now {
		had = fmt.Sprintf("turns %d-%d", op.Last+1, now)
	}
	return errs.New(errs.Refused, "%s: has had %s since that %s, which --undo would take off too; what was there before it is %.12s", r.Record.Name, had, op.Kind, op.Files).
		Hint("paw rewind %s/%s %d", r.Session.Name, r.Record.Name, op.Last).Hint("paw turns %s/%s", r.Session.Name, r.Record.Name)
}

// undoneBy returns the words for where an undo, or the undoing of one, has put a worktree.
func undoneBy(op turn.Op) string {
	at := "before turn 1"
	if op.At > 0 {
		at = fmt.Sprintf("after turn %d", op.At) // or with later edits
	}
	if op.Kind == turn.OpUpdate && !op.Undone {
		return "with the last update again, " + at
	}
	return fmt.Sprintf("%s undone, %s", op.Kind, at)
}

// rewinding is a rewind, or the undo of a move, while it is carried out.
type rewinding struct {
	app.Agent
	dryRun bool
	undo   bool
	again  string                                       // command that repeats the rewind
	aim    func(*turns.Recorder, *turn.Op) (aim, error) // finds the state to put the worktree to, given the newest move, nil for none
	last   *turn.Record                                 // last turn of the agent, nil for none
	done   Rewound
}

// aim is the state to put a worktree to.
type aim struct {
	commit string
	state  func(*turns.Chain) (string, error) // finds that state in the chain
	op     turn.Op                            // with its kind, and the turn that the worktree will be at
	words  string                             // for where the worktree will be
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
		err = observe.RefuseInMerge(t.Repo, r.Record)
	}
	if err == nil {
		err = observe.RefuseOtherBranch(ctx, t.Repo, r.Session, r.Record, r.again)
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
	var ended *worktree.Ended
	if r.undo && !r.dryRun {
		if ended, err = t.Repo.Moves().EndMoveIn(ctx, r.Record.WorktreePath); err != nil {
			return app.Conflict(err)
		}
		if ended != nil { // that one is what the user wants undone, or what has undone it
			r.App.Notef("%s: %s", r.Record.Name, ended)
		}
	}
	op, at, err := turns.Position(ctx, t.Agent, turn.NumberOf(r.last))
	if err != nil {
		return err
	}
	if ended != nil && ended.Moved && ended.Command == r.command() && op != nil {
		paths, err := t.Repo.Objects().ChangedPaths(ctx, ended.Was, ended.Becomes)
		r.done.At, r.done.To, r.done.Head, r.done.RescueRef, r.done.Changed = op.At, undoneBy(*op), op.Head, ended.Rescue, len(paths)
		return err
	}
	goal, err := r.aim(t, op)
	if err != nil {
		return err
	}
	r.done.At, r.done.To = goal.op.At, goal.words
	if r.dryRun {
		return r.look(ctx, t, goal.commit)
	}
	goal.op.From, goal.op.Last = at, turn.NumberOf(r.last)
	return r.moveTo(ctx, t, goal)
}

// command names the move, should it be cut short.
func (r *rewinding) command() string {
	if r.undo {
		return "paw rewind --undo"
	}
	return "paw rewind"
}

// moveTo moves the worktree, and the refs that belong to that.
func (r *rewinding) moveTo(ctx context.Context, t *turns.Recorder, goal aim) error {
	chain, err := r.takeMoved(ctx, t)
	if err != nil {
		return err
	}
	op := goal.op
	if op.After, err = goal.state(chain); err != nil {
		return err
	}
	if op.Head, err = t.Repo.Objects().SnapshotHead(ctx, goal.commit); err != nil {
		return err
	}
	done, err := t.Repo.Moves().Rewind(ctx, r.Record.WorktreePath, goal.commit, worktree.RewindOptions{
		Rescue: turn.RewindRef(r.Record.TurnSession, r.App.Now()), Command: r.command(), Session: r.Session.Name, Step: func(name string) { r.App.Step("rewind." + name) },
		Along: func(before string, moves bool) ([]refs.Change, error) {
			defer r.App.Step("rewind.intended")
			if op.Files = before; !moves && op.At == op.From && op.After == chain.Now().Twin {
				return nil, nil
			}
			return chain.Moves(ctx, op)
		},
	})
	if err != nil {
		return app.Unmoved(err, r.Record.Name+": not rewound", r.again, r.Record.WorktreePath)
	}
	r.App.Step("rewind.moved")
	r.done.RescueRef, r.done.Head, r.done.Changed, r.done.Untouched = done.Ref, done.Head, done.Changed, done.NotSaved
	chain.Came(op)
	return nil
}

// takeMoved records the state of the worktree if HEAD has moved since the last one, as by a git merge of the user. Commits
// that came with that would count as the agent's work once the rewind is undone. It returns the chain.
func (r *rewinding) takeMoved(ctx context.Context, t *turns.Recorder) (*turns.Chain, error) {
	chain, err := turns.ChainOf(ctx, t.Agent)
	if err != nil {
		return nil, err
	}
	head, err := t.Repo.Refs().WorktreeHead(ctx, r.Record.WorktreePath)
	if err != nil || head == chain.Now().Head {
		return chain, err
	}
	shot, err := turns.Now(ctx, t.Agent)
	if err != nil || len(shot.NotSaved) > 0 {
		return chain, nil //nolint:nilerr // the move itself refuses then, and says why
	}
	if _, err = turns.Continue(ctx, t.Agent, shot.Commit, turns.HeadOf(shot), turns.Present(t.Agent)); err != nil {
		return nil, err
	}
	return turns.ChainOf(ctx, t.Agent)
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
