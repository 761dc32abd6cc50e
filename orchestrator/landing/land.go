package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// Options is what the user asked of one landing.
type Options struct {
	Turn    string // number of the turn whose end lands, "" for the state of the moment
	State   string // commit of the state that the user was shown: another one does not land; "" for whatever it is
	Into    string // branch, "" for the target of the session
	As      As
	Again   bool                                                    // also what the branch had and has lost by a revert
	Message string                                                  // "" makes one from the turns
	Edit    func(ctx context.Context, draft string) (string, error) // nil takes the message as it is
	DryRun  bool

	Checks  []string // instead of those of the configuration
	NoCheck bool
	Handed  map[string]Handed // the states of the agents of another machine, by name
	Fresh   bool              // run checks also on what has passed them before
}

// Landed is what a landing did, or with a dry run would do.
type Landed struct {
	session.Landing
	Session string
	Commits int    // that the target got
	Nothing bool   // the target has all of it already
	Has     string // with Nothing: the turns that a landing has brought, "" where that is not known
	LeftOut int    // with Nothing: the last turn, where its work is neither in the worktree nor in the target, 0 for none
	Checks  []string
	Along   string   // whose work comes along: the agent began in the midst of it, and the target does not have it
	Paths   []string // that differ in the target, for a dry run
	Plan    []string // the steps, for a dry run
}

// tries bounds how often a landing begins anew because its target has moved.
const tries = 3

// Land brings the state of an agent into a branch. Everything that can be refused is refused before anything moves; with an
// error the branch and its checkout are as they were.
func Land(ctx context.Context, h *app.App, s *session.Session, agentName string, o Options) (*Landed, error) {
	w, err := workOf(ctx, h, s, agentName)
	if err != nil {
		return nil, err
	}
	if o.As = cmp.Or(o.As, Squash); !slices.Contains(Forms, o.As) {
		return nil, errs.New(errs.Usage, "--as %s: it takes squash, commits or merge", o.As)
	}
	w.handed = o.Handed
	branch, err := w.branchFor(o.Into)
	if err != nil {
		return nil, err
	}
	commands, err := checksFor(h, o.Checks, o.NoCheck)
	if err != nil {
		return nil, errs.WithHints(err, "paw land "+w.name()+" --no-check")
	}
	l := &landing{work: w, options: o, branch: branch, checker: &checker{work: w, commands: commands, fresh: o.Fresh}}
	if o.DryRun {
		var drop func()
		if l.m, drop, err = l.m.WithScratch(); err != nil {
			return nil, err
		}
		defer drop()
	} else {
		if s.Host == "" {
			turns.CloseDead(ctx, h, s, agentName)
			l.version = w.cliVersion(ctx)
		}
	}
	landed, err := l.run(ctx)
	if err != nil {
		w.keepWords("land", l.edited)
	}
	return landed, err
}

// landing is one on its way.
type landing struct {
	work
	options Options
	branch  string

	version  func(made []turns.Turn) string // of the CLI
	composer *composer
	checker  *checker
	edited   string // the message as the user left it
}

// run lands, anew each time that the target moves in between. Checks run while others may land: what they have passed counts
// only as long as it is the tree that would land.
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
	return nil, errs.New(errs.Locked, "branch %s: has moved %d times meanwhile, not landed", l.branch, tries).Hint("paw land %s", l.name())
}

// ask has the user write the message while others may land: only what would land now decides what the draft says.
func (l *landing) ask(ctx context.Context) (*Landed, error) {
	v, err := holdMoves(ctx, l.home, l.m, l.session.Name) // for what was cut short
	if err != nil {
		return nil, err
	}
	v.right.Release()
	return l.prepare(ctx)
}

// errUnchecked means that checks have to run on what would land.
var errUnchecked = errors.New("not checked yet")

// check runs the checks on what would land.
func (l *landing) check(ctx context.Context, landed *Landed) error {
	err := l.checker.run(ctx, landed.After)
	var failed *CheckError
	if errors.As(err, &failed) {
		return failed.failed(l.name() + ": not landed in " + l.branch)
	}
	return err
}

// once lands while nobody else does, or with errUnchecked what is to be checked first.
func (l *landing) once(ctx context.Context) (*Landed, error) {
	v, err := holdMoves(ctx, l.home, l.m, l.session.Name)
	if err != nil {
		return nil, err
	}
	defer v.right.Release()
	if l.session, err = l.home.LoadAny(l.session.Name); err != nil { // with what landed meanwhile
		return nil, err
	}
	if l.agent, err = app.AgentNamed(l.session, l.agent.Name); err != nil {
		return nil, err
	}
	one, t, landed, err := l.compose(ctx)
	if err != nil {
		return nil, l.offer(ctx, v, err)
	}
	if landed.Nothing {
		return landed, nil
	}
	if !l.checker.has(one.tree) {
		if err := l.unobstructed(ctx, t, landed); err != nil {
			return nil, err
		}
		return landed, errUnchecked
	}
	if err := v.advance(ctx, &landed.Landing, l.see); err != nil { // looks for what is in the way while nobody else has the index
		return nil, l.notMoved(err, t)
	}
	return landed, nil
}

// unobstructed refuses a landing that would write over anything in the checkout of its target.
func (l *landing) unobstructed(ctx context.Context, t target, landed *Landed) error {
	if t.checkout == nil {
		return nil
	}
	return l.notMoved(unobstructed(ctx, l.m, t.checkout, t.tip, landed.After, landed.Handed), t)
}

// see marks what has landed as seen in the record of its agent, unless the user has seen more.
func (l *landing) see(landed *session.Landing, w *session.Agent) {
	finished := l.composer.source.finished
	if number := l.composer.source.turn; number > 0 {
		finished = turns.FinishedUpTo(l.composer.source.turns, number)
	}
	if finished.Turns >= w.Seen.Turns && l.session.Host == "" { // what was seen of it elsewhere, that machine says
		w.Seen, w.SeenLanded = finished, landed.ID
	}
}

// prepare composes a landing, and refuses what could not be carried out.
func (l *landing) prepare(ctx context.Context) (*Landed, error) {
	_, t, landed, err := l.compose(ctx)
	if err != nil || landed.Nothing {
		return landed, err
	}
	return landed, l.unobstructed(ctx, t, landed)
}

// compose looks, decides and composes: all that comes before anything moves but for a look at what is in the way.
func (l *landing) compose(ctx context.Context) (*composed, target, *Landed, error) {
	if l.composer == nil {
		source, err := l.lookAtSource(ctx, l.options.Turn, "land")
		if err != nil {
			return nil, target{}, nil, &notTakenError{err}
		}
		if err := l.asShown(ctx, source); err != nil {
			return nil, target{}, nil, err
		}
		l.composer = &composer{source: source, as: l.options.As, again: l.options.Again, asked: l.options.Message, version: l.version}
		l.composer.signs = sync.OnceValues(func() (bool, error) { return l.m.Objects().SignsCommits(ctx) })
		l.composer.message = func(draft string) (string, error) { return l.message(ctx, draft) }
	}
	l.composer.work = l.work
	t, err := l.lookAtTarget(ctx, l.branch)
	if err != nil {
		return nil, t, nil, err
	}
	landed := &Landed{Session: l.session.Name, Landing: session.Landing{
		Agent: l.agent.Name, TurnSession: l.agent.TurnSession, Target: t.branch, Before: t.tip, Turn: l.composer.source.turn,
		LastTurn: l.composer.source.lastTurn(), As: string(l.options.As), Began: l.agent.Handed(), Shifts: slices.Clone(l.agent.Shifts),
	}}
	if l.agent.From != nil && l.agent.From.Agent != "" {
		landed.From = l.agent.From
	}
	one, err := l.composer.compose(ctx, t)
	if err != nil {
		return nil, t, nil, l.notComposed(err, t)
	}
	if landed.Nothing = one == nil; landed.Nothing {
		if had := l.composer.hadAll(); had != nil {
			landed.Has = had.Turns
		}
		landed.LeftOut, err = l.composer.leftOut(ctx, t)
		return nil, t, landed, err
	}
	landed.After, landed.State, landed.Files, landed.Title = one.commit, one.state, one.files, one.title
	landed.Commits, landed.Turns, landed.Checks, landed.Instead = one.commits, ranges(one.brought), l.checker.commands, l.composer.asker.instead(l.composer.sides)
	if t.checkout != nil {
		landed.Checkout = t.checkout.Path
		if handed := l.agent.Handed(); handed != "" {
			if landed.Handed, err = l.m.Moves().HandedFiles(ctx, *t.checkout, t.tip, one.commit, handed); err != nil {
				return nil, t, nil, err
			}
		}
	}
	if landed.Along, err = l.composer.along(ctx, one.tree); err != nil {
		return nil, t, nil, err
	}
	if l.options.DryRun {
		if landed.Paths, err = l.m.Objects().ChangedPaths(ctx, t.tip, one.commit); err != nil {
			return nil, t, nil, err
		}
	}
	landed.Plan = plan(landed)
	return one, t, landed, nil
}

// asShown refuses a state other than the one that the user was shown.
func (l *landing) asShown(ctx context.Context, now *source) error {
	if l.options.State == "" {
		return nil
	}
	shown, err := l.m.Objects().TreeOf(ctx, l.options.State)
	if err != nil {
		return err
	}
	if tree, err := l.m.Objects().TreeOf(ctx, now.state); err != nil || tree == shown {
		return err
	}
	return errs.New(errs.Refused, "%s: has changed since it was shown, nothing has landed", l.agent.Name).
		Hint("paw land %s --dry-run", l.name())
}

// message is the draft as the user wants it, asked for once.
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

// mostPaths limits how many files a plan lists.
const mostPaths = 20

// plan says what a landing does, line by line.
func plan(l *Landed) []string {
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
	for i, path := range l.Paths {
		if i == mostPaths {
			lines = append(lines, "  and "+errs.Counted(len(l.Paths)-i, "other file"))
			break
		}
		lines = append(lines, "  "+onOneLine(path))
	}
	for _, command := range l.Checks {
		lines = append(lines, "check what would land: "+oneLine(command))
	}
	if l.Checkout != "" {
		lines = append(lines, "your other changes in "+l.Checkout+" are left alone")
	}
	return lines
}

func turnWords(turns string) string {
	if strings.ContainsAny(turns, "-,") {
		return "turns " + turns
	}
	return "turn " + turns
}

// form says in how many commits work lands.
func form(l *Landed) string {
	if l.As == string(Merge) {
		return "a merge"
	}
	return errs.Counted(l.Commits, "commit")
}

// String says what has landed, and how to take it back.
func (l *Landed) String() string {
	name := l.Session + "/" + l.Agent
	if l.Nothing && l.Has != "" && l.Turn > 0 {
		return fmt.Sprintf("%s: nothing to land, %s has %s of it already", name, l.Target, turnWords(l.Has))
	}
	if l.Nothing && l.LeftOut > 0 {
		return fmt.Sprintf("%s: nothing to land, and turn %d is not in its worktree; paw land %s@%d brings it", name, l.LeftOut, name, l.LeftOut)
	}
	if l.Nothing {
		return fmt.Sprintf("%s: nothing to land, %s has all of it", name, l.Target)
	}
	turns := ""
	if l.Turns != "" {
		turns = " (" + turnWords(l.Turns) + ")"
	}
	text := fmt.Sprintf("landed %s%s in %s: %s, %s %s %q; paw land --undo %d --session %s takes it back",
		name, turns, l.Target, errs.Counted(l.Files, "file"), form(l), l.After[:12], l.Title, l.ID, l.Session)
	if l.Along != "" {
		text += "\nalong came " + l.Along
	}
	return text
}
