package landing

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/gitdir"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
	"paw/worktree/states"
)

// source is the state of an agent that is to land, looked at once.
type source struct {
	Handed
	chain *turns.Chain // nil for an agent of another machine
	now   states.State // the state, if it is the present one and follows the chain

	finished session.Finished // turns that had ended well at the time of the look
}

// skippedError is an error of one agent that paw land --all leaves out and names: its state cannot be taken now, or nothing of
// its work would land.
type skippedError struct{ error }

func (e *skippedError) Unwrap() error { return e.error }

// lookAtSource takes the state of an agent: the present state of an agent at rest, or the end of a
// turn. It refuses a state that cannot be taken exactly; the hint names a turn that can.
func (w work) lookAtSource(ctx context.Context) (*source, error) {
	src, err := w.sourceOf(ctx)
	if err == nil {
		err = src.take(ctx, w)
	}
	return src, err
}

// sourceOf looks at the turns of an agent, whose state take then takes.
func (w work) sourceOf(ctx context.Context) (*source, error) {
	if w.Session.Host != "" {
		return w.handedSource()
	}
	if err := observe.RefuseUnfinished(w.Session, w.Record); err != nil {
		return nil, err
	}
	if w.turn == "" {
		if err := observe.RefuseHalfMoved(ctx, w.App, w.Session, w.Record.Name); err != nil {
			return nil, err
		}
	}
	list, _, err := turns.List(ctx, w.Agent)
	if err != nil {
		return nil, err
	}
	return &source{Handed: Handed{Turns: list.Turns}, finished: w.Record.Finished}, nil
}

// take takes the state, unless another machine has taken it.
func (src *source) take(ctx context.Context, w work) (err error) {
	switch {
	case w.Session.Host != "":
	case w.turn == "":
		err = src.takeNow(ctx, w)
	default:
		err = src.takeTurn(ctx, w)
	}
	if err == nil && src.Head == "" {
		src.Head, err = w.Repo.Objects().SnapshotHead(ctx, src.State)
	}
	return err
}

// handedSource returns the state of an agent of another machine as a source. That machine does not
// know what was typed here, so its hint for a turn gets the flags.
func (w work) handedSource() (*source, error) {
	one, there := w.handed[w.Record.Name]
	switch {
	case !there:
		return nil, errs.New(errs.Failed, "%s: its machine was not asked", w.name())
	case one.Err != nil:
		told := *one.Err
		told.Hints = slices.Clone(told.Hints)
		for i, hint := range told.Hints {
			if number, ok := strings.CutPrefix(hint, "paw land "+w.name()+"@"); ok {
				told.Hints[i] = w.lineAt(number)
			}
		}
		return nil, &told
	}
	return &source{Handed: one, finished: w.Record.Finished}, nil
}

func (src *source) takeNow(ctx context.Context, w work) error {
	path, name := w.Record.WorktreePath, w.Record.Name
	refuse := observe.RefuseBusy
	if w.writes() {
		refuse = observe.RefuseNotAtRest
	}
	facts, err := refuse(ctx, w.App, w.Session, name)
	if err != nil {
		return src.withTurnHint(err, w)
	}
	if err = observe.RefuseGone(facts, name); err == nil {
		err = observe.RefuseInMerge(w.Repo, w.Record)
	}
	if err != nil {
		if number := src.lastEnd(); number > 0 && !w.writes() {
			err = errs.WithHints(err, w.lineAt(strconv.Itoa(number)))
		}
		return err
	}
	if err := src.onItsBranch(ctx, w); err != nil {
		return err
	}
	look := "git -C " + errs.Quote(path) + " status"
	shot, err := turns.Now(ctx, w.Agent)
	switch {
	case err != nil:
		return err
	case shot.Unmerged:
		return errs.New(errs.Refused, "%s: a conflict is not resolved in its worktree", name).Hint("%s", look)
	case len(shot.NotSaved) > 0 && gitdir.IsTop(filepath.Join(path, shot.NotSaved[0])):
		inner := shot.NotSaved[0]
		return errs.New(errs.Refused, "%s: cannot be taken as it is: %s, a repository of its own, has changes or commits that nothing else has", name, inner).
			Hint("git -C %s status", errs.Quote(filepath.Join(path, inner))).
			Hint("echo %s >>%s", errs.Quote("/"+inner+"/"), errs.Quote(filepath.Join(w.Repo.Repository.CommonDir, "info", "exclude")))
	case len(shot.NotSaved) > 0:
		return app.Unfiltered(notSaved(name, shot), look)
	}
	for _, what := range shot.LeftOut {
		w.App.Notef("%s: left out: %s", name, what)
	}
	for _, name := range shot.Behind {
		w.App.Notef("%s: its checkout is behind, git -C %s submodule update", name, errs.Quote(path))
	}
	src.State, src.Head = shot.Commit, turns.HeadOf(shot)
	if src.chain, err = turns.ChainOf(ctx, w.Agent); err != nil {
		return err
	}
	src.now, err = src.chain.Then(ctx, src.State, src.Head, turns.Present(w.Agent))
	src.Twin = src.now.Twin
	return err
}

// keep keeps the state in the agent's chain, if it is the present one: a commit of a branch stands for it. Where a later state is there by
// now, that one stays.
func (src *source) keep(ctx context.Context) error {
	if src.chain == nil || src.Turn > 0 {
		return nil
	}
	if err := src.chain.Keep(ctx, src.now); !errors.Is(err, refs.ErrMoved) {
		return err
	}
	return nil
}

// notSaved returns the error for files that are not in a snapshot, with what git said of the first
// one.
func notSaved(agentName string, shot snapshot.Snapshot) *errs.Error {
	files := few(shot.NotSaved, namedPaths)
	if shot.Cause != nil {
		return errs.New(errs.Refused, "%s: cannot be taken as it is: %s: %w", agentName, files, shot.Cause)
	}
	return errs.New(errs.Refused, "%s: cannot be taken as it is: %s", agentName, files)
}

func (src *source) takeTurn(ctx context.Context, w work) error {
	one, err := turns.Numbered(w.Session, turns.AgentTurns{Agent: w.Record.Name, Turns: src.Turns}, w.turn)
	if err != nil {
		return err
	}
	if one.State == turn.InProgress {
		return src.withTurnHint(errs.New(errs.Refused, "%s: turn %d is in progress", w.Record.Name, one.Number), w)
	}
	src.Turn = one.Number
	src.Turns = src.Turns[:slices.IndexFunc(src.Turns, func(t turns.Turn) bool { return t.Number == one.Number })+1]
	if src.State, err = turns.End(ctx, w.Agent, one, turns.Force{Command: w.lineAt("")}); err != nil {
		return err
	}
	if src.chain, err = turns.ChainOf(ctx, w.Agent); err == nil {
		src.Twin, err = src.chain.At(ctx, one.Number, src.State)
	}
	return err
}

// withTurnHint replaces the hints of a refusal by a command for the last turn that can be taken.
func (src *source) withTurnHint(err error, w work) error {
	var e *errs.Error
	if !errors.As(err, &e) || e.Kind != errs.Refused || w.writes() {
		return err
	}
	if number := src.lastEnd(); number > 0 {
		return errs.New(errs.Refused, "%w", err).Hint("%s", w.lineAt(strconv.Itoa(number)))
	}
	return err
}

// onItsBranch refuses an agent whose worktree is not on the agent's branch, or whose branch is
// gone: its commits are elsewhere, and its files may be other work. The hints keep these commits in
// the worktree, which a switch back would not.
func (src *source) onItsBranch(ctx context.Context, w work) error {
	path, branch := w.Record.WorktreePath, w.Record.Branch
	tip, err := w.Repo.Refs().BranchTip(ctx, branch)
	if err != nil {
		return err
	}
	err = gitdir.Verify(path, w.Session.GitCommonDir, branch)
	var other *gitdir.MismatchError
	switch {
	case errors.As(err, &other) && other.What == "branch":
		return src.elsewhere(ctx, w, observe.OtherBranch(w.Record, other.Got), tip)
	case err != nil:
		return errs.New(errs.Refused, "%s: %w", w.Record.Name, err).Hint("paw recover %s", w.Session.Name)
	case tip == "":
		return observe.BranchGone(w.Repo, w.Session, w.Record)
	}
	return observe.RefuseMovedBranch(ctx, w.Repo, w.Record)
}

// elsewhere adds hints to the error about a worktree on another branch: the last turn, and a
// command that moves the agent's branch to the worktree's commit if no commit of the branch is lost
// by that.
func (src *source) elsewhere(ctx context.Context, w work, refused *errs.Error, tip string) error {
	if number := src.lastEnd(); number > 0 && !w.writes() {
		refused = refused.Hint("%s", w.lineAt(strconv.Itoa(number)))
	}
	head, err := w.Repo.Refs().WorktreeHead(ctx, w.Record.WorktreePath)
	if err != nil {
		return refused // the worktree has no commit to move the branch to
	}
	forward := tip == ""
	if !forward {
		if forward, err = w.Repo.Objects().Contains(ctx, head, tip); err != nil {
			return err
		}
	}
	path, branch := errs.Quote(w.Record.WorktreePath), errs.Quote(w.Record.Branch)
	if !forward {
		return refused.Hint("git -C %s log --oneline --left-right %s...HEAD", path, branch)
	}
	return refused.Hint("git -C %s switch -C %s", path, branch)
}

// badEnd says how the last turn of the state ended, as turns.BadEnd does.
func (src *source) badEnd(ctx context.Context, w work) string {
	if src.Turn == 0 {
		return w.badEnd(ctx)
	}
	if last := src.Turns[len(src.Turns)-1].Record; last.Number > w.Record.SeenCut {
		return live.BadEnd(last)
	}
	return ""
}

// lastEnd returns the number of the last turn whose end is known, 0 for none.
func (src *source) lastEnd() int {
	for _, t := range slices.Backward(src.Turns) {
		if t.State != turn.InProgress && t.After != "" {
			return t.Number
		}
	}
	return 0
}

// lastTurn returns the number of the last turn that has begun, 0 for none.
func (src *source) lastTurn() int {
	if len(src.Turns) == 0 {
		return 0
	}
	return src.Turns[len(src.Turns)-1].Number
}
