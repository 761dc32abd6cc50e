package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Landed is the result of a landing, or for a dry run its plan.
type Landed struct {
	session.Landing
	Session string
	Commits int    // number of commits that the target got
	Nothing bool   // the target has all of the work already
	Has     string // if Nothing: turns that a landing has brought, "" if unknown
	LeftOut int    // if Nothing: the last turn, if its work is neither in the worktree nor in the target; 0 for none
	Brings  string // command that lands turn LeftOut
	Checks  []string
	Along   string   // work of somebody else that lands too, because the agent began in the midst of it
	Listed  []string // files that change in the target, a line for each; only for a dry run

	tree string // of After
}

// tries limits how often a landing starts again because its target has moved.
const tries = 3

// Land lands the state of an agent in a branch. It refuses before anything moves; after an error
// the branch and its checkout are as before.
func Land(ctx context.Context, h *app.App, s *session.Session, agentName string, o Options) (*Landed, error) {
	w, err := workOf(ctx, h, s, agentName)
	if err != nil {
		return nil, err
	}
	if o.As = cmp.Or(o.As, Squash); !slices.Contains(Forms, o.As) {
		return nil, errs.New(errs.Usage, "--as %s: it takes squash, commits or merge", o.As)
	}
	w.handed = o.Handed
	branch, err := w.branchFor(o.Into, o.lineInto(w))
	if err != nil {
		return nil, err
	}
	commands, err := checksFor(h, o.Checks, o.NoCheck)
	if err != nil {
		o.Checks, o.NoCheck = nil, true
		return nil, errs.WithHints(err, o.line(s, agentName))
	}
	l := &landing{work: w, options: o, target: target{branch: branch}, checker: &checker{work: w, commands: commands, fresh: o.Fresh}}
	l.signs = sync.OnceValues(func() (bool, error) { return l.Repo.Objects().SignsCommits(ctx) })
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
	landed, err := l.run(ctx)
	if err != nil {
		o = l.options
		o.Edit = nil
		w.keepWords(o.line(s, agentName), l.edited)
	}
	return landed, err
}

// landing is one run of paw land for one agent.
type landing struct {
	work
	target  // looked at anew each time the landing starts again
	options Options
	version func(made []turns.Turn) string // version of the CLI; nil if no message needs it
	signs   func() (bool, error)           // whether the user signs commits; asked while git merges
	checker *checker
	edited  string // message that the user has edited

	source *source // nil before the first look
	asker  *asker  // nil before a look at what has landed
	sides  *sides
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
		Hint("%s", l.options.line(l.Session, l.Record.Name))
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
	err := l.checker.run(ctx, landed.After)
	if failed, ok := errors.AsType[*CheckError](err); ok {
		return failed.failed(l.name() + ": not landed in " + l.branch)
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
		return nil, l.offer(ctx, v, err)
	case landed.Nothing:
		return landed, nil
	case !l.checker.has(landed.tree):
		return landed, cmp.Or(l.unobstructed(ctx, landed), errUnchecked)
	}
	landed.ID = l.nextID()
	if err := v.advance(ctx, &landed.Landing, l.options.line(l.Session, l.Record.Name), l.see); err != nil { // looks for obstacles while it holds the lock of the index
		return nil, l.notMoved(err)
	}
	return landed, nil
}

// nextID returns the lowest number for a landing that no ref has, found while nobody else can land.
func (l *landing) nextID() int {
	return nextBelow(l.asker.led.refs, turn.LandedPrefix(l.Record.TurnSession))
}

// unobstructed refuses a landing that would overwrite something in the target's checkout.
func (l *landing) unobstructed(ctx context.Context, landed *Landed) error {
	if l.checkout == nil {
		return nil
	}
	return l.notMoved(unobstructed(ctx, l.Repo, l.checkout, l.tip, landed.After, landed.Handed))
}

// see records that the user has seen what has landed, unless the user has seen more.
func (l *landing) see(landed *session.Landing, w *session.Agent) {
	finished := l.source.finished
	if number := l.source.turn; number > 0 {
		finished = turns.FinishedUpTo(l.source.turns, number)
	}
	if finished.Turns >= w.Seen.Turns && l.Session.Host == "" { // for agents of a host, the host records what was seen
		w.Seen, w.SeenLanded = finished, landed.ID
	}
}

// prepare composes a landing, and refuses one that could not be carried out.
func (l *landing) prepare(ctx context.Context) (*Landed, error) {
	landed, err := l.compose(ctx)
	if err != nil || landed.Nothing {
		return landed, err
	}
	return landed, l.unobstructed(ctx, landed)
}

// compose looks at agent and target, and makes the commits of the landing. Only the look for
// obstacles and the move are left after that.
func (l *landing) compose(ctx context.Context) (landed *Landed, err error) {
	if err := l.look(ctx); err != nil {
		return nil, err
	}
	landed = &Landed{Session: l.Session.Name, Landing: session.Landing{
		Agent: l.Record.Name, TurnSession: l.Record.TurnSession, Target: l.branch, Before: l.tip, Turn: l.source.turn,
		LastTurn: l.source.lastTurn(), As: string(l.options.As), Began: l.Record.Handed(), Shifts: slices.Clone(l.Record.Shifts),
	}}
	if l.Record.From != nil && l.Record.From.Agent != "" {
		landed.From = l.Record.From
	}
	if err := l.merge(ctx, landed); err != nil {
		return nil, l.notComposed(err)
	}
	if landed.Nothing {
		if near := l.sides.near; near != nil {
			landed.Has = near.Turns
		}
		landed.LeftOut, err = l.leftOut(ctx)
		landed.Brings = l.options.lineAt(l.work)(strconv.Itoa(landed.LeftOut))
		return landed, err
	}
	landed.Checks, landed.Instead = l.checker.commands, l.asker.instead(l.sides)
	if l.checkout != nil {
		landed.Checkout = l.checkout.Path
		if handed := l.Record.Handed(); handed != "" {
			if landed.Handed, err = l.Repo.Moves().HandedFiles(ctx, *l.checkout, l.tip, landed.After, handed); err != nil {
				return nil, err
			}
		}
	}
	if landed.Along, err = l.along(ctx, landed.tree); err != nil {
		return nil, err
	}
	if l.options.DryRun {
		landed.Listed, err = l.filesOf(ctx, landed.After)
	}
	return landed, err
}

// look looks at the target and, the first time, takes the agent's state. The two run at the same
// time, because each starts several git processes. The caller keeps other landings away.
func (l *landing) look(ctx context.Context) (err error) {
	if l.asker = nil; l.source != nil {
		l.target, err = l.lookAtTarget(ctx, l.branch, l.options.lineInto(l.work))
		return err
	}
	src, err := l.sourceOf(ctx, l.options.Turn, l.options.lineAt(l.work))
	if err != nil {
		return &notTakenError{err}
	}
	l.countTurns(src)
	if l.records, err = l.allRecords(); err != nil {
		return err
	}
	if _, err = l.siblings(ctx); err != nil { // decides what both looks then only read
		return err
	}
	var targetErr error
	var beside sync.WaitGroup
	beside.Go(func() {
		if l.target, targetErr = l.lookAtTarget(ctx, l.branch, l.options.lineInto(l.work)); targetErr == nil {
			l.asker, _ = l.askerFor(ctx, l.target, l.options.Again) // the look that needs it meets an error again
		}
	})
	err = src.take(ctx, l.work)
	beside.Wait()
	if err != nil {
		return &notTakenError{err}
	}
	if src.turn > 0 { // of another machine's agent, that machine has chosen the turn
		l.options.Turn = strconv.Itoa(src.turn)
	}
	if err := l.asShown(ctx, src); err != nil {
		return err
	}
	l.source = src
	return targetErr
}

// asShown refuses a state that differs from the one the user was shown.
func (l *landing) asShown(ctx context.Context, now *source) error {
	if l.options.State == "" {
		return nil
	}
	shown, err := l.Repo.Objects().TreeOf(ctx, l.options.State)
	if err != nil {
		return err
	}
	if tree, err := l.Repo.Objects().TreeOf(ctx, now.state); err != nil || tree == shown {
		return err
	}
	return errs.New(errs.Refused, "%s: has changed since it was shown, nothing has landed", l.Record.Name).
		Hint("%s --dry-run", l.options.line(l.Session, l.Record.Name))
}

// message lets the user edit the draft, once.
func (l *landing) message(ctx context.Context, draft string) (string, error) {
	if l.options.Edit == nil || l.options.DryRun {
		return draft, nil
	}
	if l.edited == "" {
		var err error
		if l.edited, err = edited(ctx, l.options.Edit, draft, "has landed"); err != nil {
			return "", err
		}
	}
	return l.edited + "\n", nil
}

// mostFiles limits the files that a plan lists.
const mostFiles = 20

// Plan returns what a dry run would land, nil for nothing.
func (l *Landed) Plan() []string {
	if l.Nothing {
		return nil
	}
	what := "land what " + l.Session + "/" + l.Agent + " has done"
	if l.Turns != "" {
		what = fmt.Sprintf("land %s of %s/%s", turnWords(l.Turns), l.Session, l.Agent)
	}
	if l.Turn > 0 {
		what += fmt.Sprintf(", as it was at the end of turn %d,", l.Turn)
	}
	lines := []string{
		fmt.Sprintf("%s into %s: %s, as %s", what, l.Target, errs.Counted(l.Files, "file"), form(l)),
		"title: " + l.Title,
	}
	if l.Along != "" {
		lines = append(lines, "along comes "+l.Along)
	}
	for i, file := range l.Listed {
		if i == mostFiles {
			lines = append(lines, "  and "+errs.Counted(len(l.Listed)-i, "other file"))
			break
		}
		lines = append(lines, "  "+file)
	}
	for _, command := range l.Checks {
		lines = append(lines, "check what would land: "+oneLine(command))
	}
	return lines
}

// form says in which form, and in how many commits, work lands.
func form(l *Landed) string {
	if l.As == string(Merge) {
		return "a merge"
	}
	return errs.Counted(l.Commits, "commit")
}

// String says what has landed.
func (l *Landed) String() string {
	name := l.Session + "/" + l.Agent
	if l.Nothing && l.Has != "" && l.Turn > 0 {
		return fmt.Sprintf("%s: nothing to land, %s has %s of it already", name, l.Target, turnWords(l.Has))
	}
	if l.Nothing && l.LeftOut > 0 {
		return fmt.Sprintf("%s: nothing to land, and turn %d is not in its worktree; %s brings it", name, l.LeftOut, l.Brings)
	}
	if l.Nothing {
		return fmt.Sprintf("%s: nothing to land, %s has all of it", name, l.Target)
	}
	turns := ""
	if l.Turns != "" {
		turns = " (" + turnWords(l.Turns) + ")"
	}
	return fmt.Sprintf("landed %s%s in %s: %s, %s %.12s %q", name, turns, l.Target, errs.Counted(l.Files, "file"), form(l), l.After, l.Title)
}
