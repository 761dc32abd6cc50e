package orchestrator

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// How long a deliverer waits: for a parent that is busy, and for a child's CLI
// that is about to exit.
const (
	busyPatience    = 60 * time.Second
	leavingPatience = 5 * time.Second
)

// deliverer tells one parent how its children ended.
type deliverer struct {
	*Paw
	session, parent string
	began           time.Time
	launch          int // of the parent when this began: one that was launched later is prompted by nobody from before
	keyboard        keyboard
}

// keyboard is how a deliverer reaches the pane of a parent.
type keyboard struct {
	// panes lists the panes of the session's server.
	panes askPanes
	// ready returns the pane of an agent, "" when its CLI takes no typed input now.
	ready func(ctx context.Context, s *session.Session, w *session.Worktree) (pane string)
	// enter types a prompt and, after last and unless the CLI asks something by then, Enter. The error is errNotTyped when nothing has reached the pane.
	enter func(ctx context.Context, s *session.Session, w *session.Worktree, pane, prompt string, last func() error) error
	// again presses Enter once more, unless the CLI asks something.
	again func(ctx context.Context, s *session.Session, w *session.Worktree, pane, prompt string) error
	// patience is how long a prompt may take to arrive, before and after Enter is pressed again.
	patience time.Duration
}

// errNotTyped says for certain that nothing was typed.
var errNotTyped = errors.New("nothing was typed")

// Deliver types, if it is due, the prompt that tells a parent how its children
// ended, at most once however many processes try it, and sees that it arrives. A
// parent that is busy is waited for, a minute at most: its own end claims it then.
func (p *Paw) Deliver(ctx context.Context, sessionName, parent string, c Claim) error {
	began, launch := p.Now(), p.runningLaunch(sessionName, parent)
	awaitHook(ctx, c.Hook)
	s, err := p.load(sessionName)
	if err == nil {
		p, err = p.configuredFor(s)
	}
	if err == nil {
		d := &deliverer{Paw: p, session: sessionName, parent: parent, began: began, launch: launch, keyboard: p.paneKeyboard()}
		err = d.run(ctx, c)
	}
	if err = withoutGone(err); err != nil {
		p.logHook("paw", "deliver", err)
	}
	return err
}

// runningLaunch is the generation of the launch of an agent that runs, 0 when none does.
func (p *Paw) runningLaunch(sessionName, agentName string) int {
	lock, err := p.Locks.ProbeAgent(sessionName, agentName)
	if err != nil || lock.State != session.LockHeld {
		return 0
	}
	return lock.Holder.Generation
}

// withoutGone is nil for a session that is not there any more.
func withoutGone(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == KindNotFound {
		return nil
	}
	return err
}

// hookEndPatience bounds how long a process waits for the hook that started it.
const hookEndPatience = 10 * time.Second

// awaitHook waits until the hook that started this process has ended.
func awaitHook(ctx context.Context, hook int) {
	for end := time.Now().Add(hookEndPatience); hook != 0 && os.Getppid() == hook && time.Now().Before(end) && ctx.Err() == nil; {
		settle(ctx, 5*time.Millisecond)
	}
}

// run tries until nothing is owed, it is not due, the parent does not run, or
// patience is over.
func (d *deliverer) run(ctx context.Context, c Claim) error {
	if c.Leaving != "" {
		if s, err := d.load(d.session); err == nil {
			d.outlives(ctx, s, c.Leaving, leavingPatience)
		}
	}
	for {
		verdict, err := d.once(ctx, c.occasion())
		waited := d.Now().Sub(d.began)
		exiting := verdict == live.NotDue && c.Leaving != "" && waited < 2*leavingPatience // tmux learns of it a moment later
		busy := verdict == live.Busy && waited < busyPatience
		if err != nil || ctx.Err() != nil || !busy && !exiting {
			return err
		}
		poll := waitPollLater
		if waited < waitPollSoon {
			poll = waitPollFirst
		}
		settle(ctx, poll)
	}
}

// once looks once, and delivers if it is due.
func (d *deliverer) once(ctx context.Context, occasion live.Occasion) (live.Verdict, error) {
	s, err := d.load(d.session)
	if err != nil {
		return live.NothingOwed, err
	}
	w := s.Worktree(d.parent)
	if w == nil || !owed(*w) {
		return live.NothingOwed, nil
	}
	unlock, err := d.lock(ctx, s, w)
	if err != nil {
		return live.Busy, nil // another prompt is being typed
	}
	defer unlock()
	registry := live.NewRegistry(d.liveSource(s.Name, d.keyboard.panes, notAtScreens))
	parent, err := registry.Load(ctx, live.Branch{Repository: s.GitCommonDir, Name: w.Branch})
	if errors.Is(err, live.ErrNoAgent) {
		return live.NothingOwed, nil
	}
	if err != nil {
		return live.NothingOwed, err
	}
	family := parent.Family()
	if verdict := live.Decide(family, occasion); verdict != live.Due {
		return verdict, nil
	}
	if family.Parent.Launch != d.launch {
		return live.NotRunning, nil
	}
	pane := d.keyboard.ready(ctx, s, w)
	if pane == "" {
		return live.Busy, nil
	}
	return d.deliver(ctx, s, family, pane)
}

// lock keeps others from delivering, and then from typing anything else.
func (d *deliverer) lock(ctx context.Context, s *session.Session, w *session.Worktree) (unlock func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	deliverable, err := d.Locks.Delivery(waiting, s.Name, w.Agent)
	if err != nil {
		return nil, err
	}
	typable, err := d.lockPrompt(ctx, s, w)
	if err != nil {
		deliverable()
		return nil, err
	}
	return func() { typable(); deliverable() }, nil
}

// deliver types what is due. The record says so first: from then on nobody else
// types it, and neither does this process if it is killed.
func (d *deliverer) deliver(ctx context.Context, s *session.Session, f live.Family, pane string) (live.Verdict, error) {
	wait := f.Parent.Record.Wait
	results := f.Results()
	d.countChangedFiles(ctx, s, pointersTo(results))
	prompt := live.Prompt(*wait, results, f.Left())
	s, err := d.record(ctx, f)
	if errors.Is(err, errSettled) {
		return live.NothingOwed, nil
	}
	if err != nil {
		return live.NothingOwed, err
	}
	if d.begunSince(f.Parent) {
		return live.Busy, d.takeBack(ctx, wait.ID)
	}
	w := *s.Worktree(d.parent)
	cli, known := d.CLIs.Get(w.CLI)
	if !known {
		return live.NotRunning, d.takeBack(ctx, wait.ID) // no longer in the configuration: it is typed when it is back
	}
	before := d.arrivalOf(ctx, s, &w, cli, prompt)
	err = d.keyboard.enter(ctx, s, &w, pane, prompt, func() error { return d.beginIfOwn(ctx, s, w, prompt) })
	if errors.Is(err, errNotTyped) {
		return live.NotRunning, d.takeBack(ctx, wait.ID)
	}
	if err == nil {
		d.Step("deliver.typed")
		arrived := func() bool { return before.queued() || d.arrived(d.session, w) }
		err = d.confirm(ctx, s, &w, f.Parent, pane, prompt, arrived)
	}
	if err != nil { // it waits no longer, which may be what its own parent waits for
		d.claimAfter(d.session, d.parent, Claim{Hook: os.Getpid()})
		return live.NothingOwed, err
	}
	return live.NothingOwed, d.settleWait(ctx, d.session, d.parent, wait.ID)
}

// record writes down that the prompt is about to be typed, and what it tells of.
func (d *deliverer) record(ctx context.Context, f live.Family) (*session.Session, error) {
	s, err := d.update(ctx, d.session, func(rec *session.Session) error {
		w := rec.Worktree(d.parent)
		if w == nil || !owed(*w) || w.Wait.ID != f.Parent.Record.Wait.ID {
			return errSettled
		}
		now := d.Now().UTC()
		w.Wait.TypedAt, w.Wait.Telling = &now, f.Telling()
		return nil
	})
	if err == nil {
		d.Step("deliver.recorded")
	}
	return s, err
}

// takeBack makes the wait owed again: for certain nothing was typed.
func (d *deliverer) takeBack(ctx context.Context, id string) error {
	_, err := d.update(ctx, d.session, func(rec *session.Session) error {
		if w := rec.Worktree(d.parent); w != nil && w.Wait != nil && w.Wait.ID == id {
			w.Wait.TypedAt, w.Wait.Telling = nil, nil
		}
		return nil
	})
	return err
}

// begunSince tells whether the parent has begun a turn since it was looked at.
func (d *deliverer) begunSince(parent live.Facts) bool {
	last, err := d.turnDir(d.session, d.parent).Last()
	if err != nil || last == nil || parent.TurnsUnseen {
		return false
	}
	return last.State == turn.InProgress && (parent.Last == nil || last.Number > parent.Last.Number)
}

// beginIfOwn begins the turn of a CLI without hooks: that paw typed the prompt is
// all that will ever be known of it. w is a copy: the turn settles the wait in it.
func (p *Paw) beginIfOwn(ctx context.Context, s *session.Session, w session.Worktree, prompt string) error {
	if cli, known := p.CLIs.Get(w.CLI); known && cli.Facts().Turns == turnsOfPaw {
		return p.beginOwnTurn(ctx, s, &w, prompt)
	}
	return nil
}

// confirm waits until the log of the parent has the prompt; when it does not
// come, Enter may have been lost and is pressed once more.
func (d *deliverer) confirm(ctx context.Context, s *session.Session, w *session.Worktree, parent live.Facts, pane, prompt string, arrived func() bool) error {
	for try := range 2 {
		for end := time.Now().Add(d.keyboard.patience); time.Now().Before(end) && ctx.Err() == nil; settle(ctx, min(d.keyboard.patience, 20*time.Millisecond)) {
			if arrived() {
				return nil
			}
		}
		if try == 0 && ctx.Err() == nil && !d.begunSince(parent) {
			if err := d.keyboard.again(ctx, s, w, pane, prompt); err != nil {
				break
			}
		}
	}
	return failf(KindUnconfirmed, "%s: the results of %s were typed, but nothing says that they arrived",
		d.parent, strings.Join(parent.Record.Wait.Children, ", ")).hint("paw attach %s %s", d.session, d.parent)
}

func pointersTo(results []live.Result) []*live.Result {
	all := make([]*live.Result, len(results))
	for i := range results {
		all[i] = &results[i]
	}
	return all
}
