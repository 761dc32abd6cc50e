package landing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/refs"
)

// tries limits how often a landing starts again because its target has moved.
const tries = 3

// Land lands the state of an agent in a branch. It refuses before anything moves; after an error
// the branch and its checkout are as before.
func Land(ctx context.Context, h *app.App, s *session.Session, agentName string, o Options) (*Landed, error) {
	w, err := workOf(ctx, h, s, agentName, "land")
	if err != nil {
		return nil, err
	}
	if o.As = cmp.Or(o.As, Squash); !slices.Contains(Forms, o.As) {
		return nil, errs.New(errs.Usage, "--as %s: it takes squash, commits or merge", o.As)
	}
	w.handed, w.turn, w.into = o.Handed, o.Turn, o.Into
	branch, err := w.branchFor(ctx)
	if err != nil {
		return nil, err
	}
	checker := w.checker(o.Fresh)
	checker.Landing = true
	if checker.Commands, err = checks.For(h, o.Checks, o.NoCheck); err != nil {
		return nil, errs.WithHints(err, w.line(app.Without("check"), app.With("no-check")))
	}
	if last, err := w.TurnDir().Last(); o.Without && err == nil && last != nil && last.State == turn.InProgress && o.Turn == strconv.Itoa(last.Number) {
		return nil, errs.New(errs.NotFound, "%s: turn %d is in progress, it has not landed", w.name(), last.Number).Hint("paw turns %s", w.name())
	}
	l := &landing{work: w, options: o, target: target{branch: branch}, checker: checker}
	if o.DryRun {
		var drop func()
		if l.Repo, drop, err = l.Repo.WithScratch(); err != nil {
			return nil, err
		}
		defer drop()
	} else if s.Host == "" {
		turns.CloseDead(ctx, h, s, agentName)
		l.version = w.cliVersion(ctx)
	}
	var done func()
	l.Repo, done = l.Repo.Writing()
	defer done()
	landed, err := l.run(ctx)
	if err != nil {
		l.keepWords(l.edited)
		return landed, err
	}
	if s.Host == "" {
		for _, outside := range turns.OutsideOf(ctx, w.Agent) {
			h.Notef("%s: %s", w.name(), outside)
		}
	}
	if o.DryRun {
		return landed, nil
	}
	if landed.BadEnd != "" {
		h.Notef("%s: %s, and what it left has landed", w.name(), landed.BadEnd)
	}
	return landed, w.adopt(ctx, branch)
}

// run lands, and starts again if the target has moved meanwhile. Checks run while others may land,
// so a passed check counts only if the tree that would land is still the same.
func (l *landing) run(ctx context.Context) (*Landed, error) {
	if l.options.DryRun {
		return l.prepare(ctx)
	}
	if l.options.Edit != nil {
		landed, err := l.ask(ctx)
		if err != nil && !errors.Is(err, worktree.ErrBranchMoved) || err == nil && landed.Nothing {
			return landed, err
		}
	}
	for moved, checked := 0, 0; moved < tries && checked <= tries; {
		landed, err := l.once(ctx)
		switch {
		case errors.Is(err, worktree.ErrBranchMoved):
			moved++
		case errors.Is(err, errUnchecked):
			if checked++; checked <= tries {
				err = l.check(ctx, landed)
			}
			if err != nil && !errors.Is(err, errUnchecked) {
				return nil, err
			}
		default:
			return landed, err
		}
	}
	return nil, errs.New(errs.Locked, "branch %s: has moved %d times meanwhile, not landed", l.branch, tries).
		Hint("%s", l.line())
}

// ask lets the user edit the message while others may land. The draft describes what would land
// now.
func (l *landing) ask(ctx context.Context) (*Landed, error) {
	v, err := holdMoves(ctx, l.App, l.Repo, l.Session.Name) // finishes interrupted landings
	if err != nil {
		return nil, err
	}
	v.right.Release()
	return l.prepare(ctx)
}

// errUnchecked reports that checks have to run before the landing.
var errUnchecked = errors.New("not checked yet")

func (l *landing) check(ctx context.Context, landed *Landed) error {
	err := l.checker.Run(ctx, landed.After)
	if failed, ok := errors.AsType[*checks.Error](err); ok {
		return failed.Of(l.name() + ": not landed in " + l.branch)
	}
	return err
}

// once lands while nobody else can. It returns errUnchecked and the landing if checks have to run
// first.
func (l *landing) once(ctx context.Context) (*Landed, error) {
	v, err := holdMoves(ctx, l.App, l.Repo, l.Session.Name)
	if err != nil {
		return nil, err
	}
	defer v.right.Release()
	l.records = v.records
	if l.Session, err = v.load(); err != nil { // with what has landed meanwhile
		return nil, err
	}
	if l.Record, err = app.AgentNamed(l.Session, l.Record.Name); err != nil {
		return nil, err
	}
	landed, err := l.compose(ctx)
	switch {
	case err != nil:
		return nil, l.offer(ctx, err)
	case landed.Nothing:
		return landed, l.source.keep(ctx)
	case !l.checker.Has(landed.tree):
		return landed, cmp.Or(l.unobstructed(ctx, landed), errUnchecked)
	}
	landed.ID = l.nextID(ctx)
	keeps, err := l.keepsState(ctx, landed)
	if err != nil {
		return nil, err
	}
	line := l.line()
	err = v.advance(ctx, &landed.Landing, line, keeps, l.see) // looks for obstacles while it holds the lock of the index
	switch {
	case errors.Is(err, refs.ErrMoved):
		return nil, errs.New(errs.Refused, "%s: has moved on meanwhile, nothing has landed", l.name()).Hint("%s", line)
	case err != nil:
		return nil, l.notMoved(landed, err)
	}
	return landed, nil
}

// keepsState returns the refs that keep the state that lands in the agent's chain, and note that the
// landing's commit stands for it.
func (l *landing) keepsState(ctx context.Context, landed *Landed) (keeps []refs.Change, err error) {
	if l.options.Without {
		return nil, nil
	}
	if l.source.chain != nil && l.source.Turn == 0 {
		keeps = l.source.chain.Keeps(l.source.now)
	}
	twin, err := l.Repo.States().StandsFor(ctx, l.lands.Lands, l.Record.TurnSession)
	if twin == "" || err != nil {
		return keeps, err
	}
	graft, err := l.Repo.States().Stand(ctx, landed.After, landed.tree, twin, l.parents...)
	return append(keeps, graft), err
}

// see records that the user has seen what has landed, unless the user has seen more.
func (l *landing) see(landed *session.Landing, w *session.Agent) {
	finished := l.source.finished
	if number := l.source.Turn; number > 0 {
		finished = turns.FinishedUpTo(l.source.Turns, number)
	}
	if finished.Turns >= w.Seen.Turns && l.Session.Host == "" && landed.Without == 0 { // for agents of a host, the host records what was seen
		w.Seen, w.SeenLanded = finished, landed.ID
	}
}
