// Package children is what agents do with each other: waiting for agents, telling a parent how its children ended, and the
// claims by which that is looked after.
//
// Live sessions (orchestrator/live) decide what is owed to whom; this room makes them of what is there (notify.go), and
// acts. It may import every room below: orchestrator/app, live, observe, turns, typing and launch. Begin with deliver.go,
// then wait.go.
package children

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// How long a deliverer waits: for a parent that is busy, and for a child's CLI
// that is about to exit.
const (
	busyPatience    = 60 * time.Second
	leavingPatience = 5 * time.Second
)

// deliverer tells one parent how its children ended.
type deliverer struct {
	*app.App
	session, parent string
	began           time.Time
	launch          int // of the parent when this began: one that was launched later is prompted by nobody from before
	keyboard        typing.PaneWriter
}

// Deliver types, if it is due, the prompt that tells a parent how its children
// ended, at most once however many processes try it, and sees that it arrives. A
// parent that is busy is waited for, a minute at most: its own end claims it then.
func Deliver(ctx context.Context, h *app.App, sessionName, parent string, c live.Claim) error {
	began, launch := h.Now(), runningLaunch(h, sessionName, parent)
	app.AwaitHook(ctx, c.Hook)
	_, h, err := h.LoadConfigured(sessionName)
	if err == nil {
		d := &deliverer{App: h, session: sessionName, parent: parent, began: began, launch: launch, keyboard: typing.NewPaneWriter(h)}
		err = d.run(ctx, c)
	}
	if err = app.UnlessGone(err); err != nil {
		h.LogHook("paw", "deliver", err)
	}
	return err
}

// runningLaunch is the generation of the launch of an agent that runs, 0 when none does.
func runningLaunch(h *app.App, sessionName, agentName string) int {
	lock, err := h.Locks.ProbeAgent(sessionName, agentName)
	if err != nil || lock.State != session.LockHeld {
		return 0
	}
	return lock.Holder.Generation
}

// run tries until nothing is owed, it is not due, the parent does not run, or
// patience is over.
func (d *deliverer) run(ctx context.Context, c live.Claim) error {
	if c.Leaving != "" {
		if s, err := d.Load(d.session); err == nil {
			observe.Outlives(ctx, d.App, s, c.Leaving, leavingPatience)
		}
	}
	var wasBusy time.Duration // when the parent was found busy last
	for {
		verdict, err := d.once(ctx, c.Occasion())
		waited := d.Now().Sub(d.began)
		if verdict == live.Busy {
			wasBusy = waited
		}
		exiting := verdict == live.NotDue && c.Leaving != "" && waited < 2*leavingPatience // tmux learns of it a moment later
		busy := verdict == live.Busy && waited < busyPatience
		unclear := verdict == live.NotDue && wasBusy > 0 && waited-wasBusy < leavingPatience // tmux is silent, or an agent dies just now
		if err != nil || ctx.Err() != nil || !busy && !exiting && !unclear {
			return err
		}
		every := waitPollLater
		if waited < waitPollSoon {
			every = waitPollFirst
		}
		poll.Sleep(ctx, every)
	}
}

// once looks once, and delivers if it is due.
func (d *deliverer) once(ctx context.Context, occasion live.Occasion) (live.Verdict, error) {
	s, err := d.Load(d.session)
	if err != nil {
		return live.NothingOwed, err
	}
	w := s.Agent(d.parent)
	if w == nil || !live.Owed(*w) {
		return live.NothingOwed, nil
	}
	unlock, err := d.lock(ctx, s, w)
	if err != nil {
		return live.Busy, nil // another prompt is being typed
	}
	defer unlock()
	registry := live.NewRegistry(liveSource(d.App, s.Name, d.keyboard.Panes, observe.NotAtScreens))
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
	to, ready := d.keyboard.Ready(ctx, s, w)
	if !ready {
		return live.Busy, nil
	}
	return d.deliver(ctx, s, family, to)
}

// lock keeps others from delivering, and then from typing anything else.
func (d *deliverer) lock(ctx context.Context, s *session.Session, w *session.Agent) (unlock func(), err error) {
	deliverable, err := d.Hold(ctx, d.Locks.Delivery, s.Name, w.Name)
	if err != nil {
		return nil, err
	}
	typable, err := typing.Lock(ctx, d.App, s, w)
	if err != nil {
		deliverable()
		return nil, err
	}
	return func() { typable(); deliverable() }, nil
}

// deliver types what is due. The record says so first: from then on nobody else
// types it, and neither does this process if it is killed.
func (d *deliverer) deliver(ctx context.Context, s *session.Session, f live.Family, to tmux.Program) (live.Verdict, error) {
	wait := f.Parent.Record.Wait
	results := f.Results()
	turns.CountFiles(ctx, d.App, s, pointersTo(results))
	prompt := live.Prompt(*wait, results, f.Left())
	s, err := d.record(ctx, f)
	if errors.Is(err, turns.ErrSettled) {
		return live.NothingOwed, nil
	}
	if err != nil {
		return live.NothingOwed, err
	}
	if d.begunSince(f.Parent) {
		return live.Busy, d.takeBack(ctx, wait.ID)
	}
	w := *s.Agent(d.parent)
	cli, known := d.CLIs.Get(w.CLI)
	if !known {
		return live.NotRunning, d.takeBack(ctx, wait.ID) // no longer in the configuration: it is typed when it is back
	}
	before := typing.Expect(ctx, d.App, s, &w, cli, prompt)
	err = d.keyboard.Enter(ctx, s, &w, to, prompt, func() error { return turns.BeginIfOwn(ctx, d.App, s, w, prompt) })
	if errors.Is(err, typing.ErrNotTyped) { // whether it runs at all the next look says
		return live.Busy, d.takeBack(ctx, wait.ID)
	}
	if err == nil {
		d.Step("deliver.typed")
		arrived := func() bool { return before.Queued() || observe.Arrived(d.App, d.session, w) }
		err = d.confirm(ctx, s, &w, f.Parent, prompt, arrived)
	}
	if err != nil { // it waits no longer, which may be what its own parent waits for
		ClaimAfter(d.App, d.session, d.parent, live.Claim{Hook: os.Getpid()})
		return live.NothingOwed, err
	}
	return live.NothingOwed, turns.SettleWait(ctx, d.App, d.session, d.parent, wait.ID)
}

// record writes down that the prompt is about to be typed, and what it tells of.
func (d *deliverer) record(ctx context.Context, f live.Family) (*session.Session, error) {
	s, err := d.Update(ctx, d.session, func(rec *session.Session) error {
		w := rec.Agent(d.parent)
		if w == nil || !live.Owed(*w) || w.Wait.ID != f.Parent.Record.Wait.ID {
			return turns.ErrSettled
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
	return d.UpdateAgent(ctx, d.session, d.parent, func(w *session.Agent) {
		if w.Wait != nil && w.Wait.ID == id {
			w.Wait.TypedAt, w.Wait.Telling = nil, nil
		}
	})
}

// begunSince reports whether the parent has begun a turn since it was looked at.
func (d *deliverer) begunSince(parent live.Facts) bool {
	last, err := d.TurnDir(d.session, d.parent).Last()
	if err != nil || last == nil || parent.TurnsUnseen {
		return false
	}
	return last.State == turn.InProgress && (parent.Last == nil || last.Number > parent.Last.Number)
}

// confirm waits until the log of the parent has the prompt.
func (d *deliverer) confirm(ctx context.Context, s *session.Session, w *session.Agent, parent live.Facts, prompt string, arrived func() bool) error {
	if d.keyboard.Confirm(ctx, s, w, prompt, arrived, func() bool { return d.begunSince(parent) }) {
		return nil
	}
	return errs.New(errs.Unconfirmed, "%s: the results of %s were typed, but nothing says that they arrived",
		d.parent, strings.Join(parent.Record.Wait.Children, ", ")).Hint("paw attach %s %s", d.session, d.parent)
}

func pointersTo(results []live.Result) []*live.Result {
	all := make([]*live.Result, len(results))
	for i := range results {
		all[i] = &results[i]
	}
	return all
}

// ClaimAfter starts an attempt for each parent that waits for an agent which has
// just ended its turn, its CLI or its place in the session, and for the agent
// itself when it waits. The record is read after that end was written: a parent
// that begins to wait later finds the end itself.
func ClaimAfter(h *app.App, sessionName, agentName string, c live.Claim) {
	s, err := h.Store.Load(sessionName)
	if err != nil || s == nil {
		return
	}
	for _, w := range s.Agents {
		one := c
		switch {
		case !live.Owed(w):
			continue
		case w.Name == agentName && c.Leaving == "":
			one.OwnEnd = true
		case w.Name == agentName || !slices.Contains(w.Wait.Children, agentName):
			continue
		}
		claim(h, sessionName, w.Name, one)
	}
}

// ClaimAll starts an attempt for every parent in a session that waits: the user
// is there, or an agent that gives a command itself.
func ClaimAll(h *app.App, sessionName string) {
	s, err := h.Store.Load(sessionName)
	if err != nil || s == nil {
		return
	}
	for _, w := range s.Agents {
		if live.Owed(w) {
			claim(h, sessionName, w.Name, live.Claim{})
		}
	}
}

// claim starts the process that makes one attempt, since a CLI waits for its hooks
// and a user for a command. Should it never start, the results are still owed.
func claim(h *app.App, sessionName, parent string, c live.Claim) {
	var err error
	if h.Deliverer != nil {
		err = h.Deliverer(sessionName, parent, c)
	} else {
		err = h.StartDetached(c.Arguments(sessionName, parent))
	}
	if err != nil {
		h.LogHook("paw", "deliver", err)
	}
}
