// Package children lets agents wait for their children, and tells parents how their children ended.
//
// Package live decides what is owed to whom; this package builds its live sessions and
// acts. It may import every package below it: orchestrator/app, live, observe, turns, typing and
// launch. Begin with deliver.go, then wait.go.
package children

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
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

// How often a wait looks: less often after waitPollSoon.
const (
	waitPollFirst = 100 * time.Millisecond
	waitPollLater = 500 * time.Millisecond
	waitPollSoon  = 5 * time.Second // how long waitPollFirst applies
)

// How long a deliverer waits for a busy parent, and for a tmux that does not answer or an agent that is just exiting.
const (
	busyPatience    = 60 * time.Second
	unclearPatience = 5 * time.Second
)

// deliverer tells one parent how its children ended.
type deliverer struct {
	*app.App
	session, parent string
	began           time.Time
	launch          int // launch of the parent at the start: a later launch is left alone
	keyboard        typing.PaneWriter
}

// Deliver types the prompt that tells a parent how its children ended, if it is due, and waits
// until it arrives. Of any number of processes that try, at most one types it. Deliver waits up to
// a minute for a busy parent; after that the end of the parent's turn tries again. It begins once the process hook has ended, 0
// for none: a CLI takes no input while its hook runs.
func Deliver(ctx context.Context, h *app.App, sessionName, parent string, on live.Occasion, hook int) error {
	began, launch := h.Now(), runningLaunch(h, sessionName, parent)
	app.AwaitHook(ctx, hook)
	_, h, err := h.LoadConfigured(sessionName)
	if err == nil {
		d := &deliverer{App: h, session: sessionName, parent: parent, began: began, launch: launch, keyboard: typing.NewPaneWriter(h)}
		err = d.run(ctx, on)
	}
	return h.Logged("deliver", err)
}

// runningLaunch returns the generation of an agent's running launch, 0 for none.
func runningLaunch(h *app.App, sessionName, agentName string) int {
	lock, err := h.Locks.ProbeAgent(sessionName, agentName)
	if err != nil || lock.State != session.LockHeld {
		return 0
	}
	return lock.Holder.Generation
}

// run tries until nothing is owed or due, the parent does not run, or the time is over.
func (d *deliverer) run(ctx context.Context, on live.Occasion) error {
	var wasBusy time.Duration // when the parent was last found busy
	for {
		verdict, err := d.once(ctx, on)
		waited := d.Now().Sub(d.began)
		if verdict == live.Busy {
			wasBusy = waited
		}
		busy := verdict == live.Busy && waited < busyPatience
		unclear := verdict == live.NotDue && wasBusy > 0 && waited-wasBusy < unclearPatience
		if err != nil || ctx.Err() != nil || !busy && !unclear {
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
func (d *deliverer) once(ctx context.Context, on live.Occasion) (live.Verdict, error) {
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
	all, err := looksAt(d.App, s.Name, d.keyboard.Panes, observe.NotAtScreens)(ctx)
	if err != nil {
		return live.NothingOwed, err
	}
	family, there := live.FamilyOf(all, branchOf(s, w))
	if !there {
		return live.NothingOwed, nil
	}
	if verdict := live.Decide(family, on); verdict != live.Due {
		return verdict, nil
	}
	if family.Parent.Launch != d.launch {
		return live.NotRunning, nil
	}
	to, busy := d.keyboard.Ready(ctx, s, w)
	if busy != nil {
		return live.Busy, nil
	}
	return d.deliver(ctx, s, family, to)
}

// lock takes the locks of deliveries to the agent and of prompts.
func (d *deliverer) lock(ctx context.Context, s *session.Session, w *session.Agent) (unlock func(), err error) {
	deliverable, err := d.Hold(ctx, d.Locks.Delivery, s.Name, w.Name)
	if err != nil {
		return nil, err
	}
	typable, err := typing.Lock(ctx, d.Agent(s, w))
	if err != nil {
		deliverable()
		return nil, err
	}
	return func() { typable(); deliverable() }, nil
}

// deliver types the due results. It records that first: from then on no other process types these
// results, and they are not repeated if this process is killed.
func (d *deliverer) deliver(ctx context.Context, s *session.Session, f live.Family, to tmux.Program) (live.Verdict, error) {
	wait := f.Parent.Record.Wait
	results := f.Results()
	counted := make([]*live.Result, len(results))
	for i := range results {
		counted[i] = &results[i]
	}
	turns.CountFiles(ctx, d.App, s, counted)
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
	arrived, err := d.keyboard.Give(ctx, d.Agent(s, &w), to, prompt, "deliver.typed")
	if errors.Is(err, typing.ErrNotTyped) { // the next look tells whether the parent runs
		return live.Busy, d.takeBack(ctx, wait.ID)
	}
	if err == nil && !arrived {
		err = errs.New(errs.Unconfirmed, "%s: the results of %s were typed, but nothing says that they arrived",
			d.parent, strings.Join(wait.Children, ", ")).Hint("paw attach %s %s", d.session, d.parent)
	}
	if err != nil { // the wait is over, for which the agent's own parent may wait
		ClaimAfter(d.App, d.session, d.parent, os.Getpid(), true)
		return live.NothingOwed, err
	}
	return live.NothingOwed, turns.SettleWait(ctx, d.App, d.session, d.parent, wait.ID)
}

// record records that the prompt is about to be typed, and which results it has.
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

// takeBack makes the results owed again, as certainly nothing was typed.
func (d *deliverer) takeBack(ctx context.Context, id string) error {
	return d.UpdateAgent(ctx, d.session, d.parent, func(w *session.Agent) {
		if w.Wait != nil && w.Wait.ID == id {
			w.Wait.TypedAt, w.Wait.Telling = nil, nil
		}
	})
}

// begunSince reports whether the parent has begun a turn since it was observed.
func (d *deliverer) begunSince(parent live.Facts) bool {
	last, err := d.TurnDir(d.session, d.parent).Last()
	if err != nil || last == nil || parent.TurnsUnseen {
		return false
	}
	return last.State == turn.InProgress && (parent.Last == nil || last.Number > parent.Last.Number)
}

// ClaimAfter starts an attempt for each parent that waits for an agent which has just ended its
// turn or left the session, and with itself for the agent if it waits; for every waiting parent
// if the name is "". It reads the record after that end was recorded: a parent that begins to wait
// later finds the end itself. An attempt begins once the process hook has ended. If it never starts, the results stay owed.
func ClaimAfter(h *app.App, sessionName, agentName string, hook int, itself bool) {
	s, err := h.Store.Load(sessionName)
	if err != nil || s == nil {
		return
	}
	for _, w := range s.Agents {
		on := live.Told
		if itself && w.Name == agentName {
			on = live.OwnEnd
		}
		if live.Owed(w) && (on == live.OwnEnd || agentName == "" || slices.Contains(w.Wait.Children, agentName)) {
			claim(h, sessionName, w.Name, on, hook)
		}
	}
}

// claim starts an attempt to tell a parent how its children ended.
func claim(h *app.App, sessionName, parent string, on live.Occasion, hook int) {
	h.Detach("deliver", "__deliver", sessionName, parent, string(on), strconv.Itoa(hook))
}

// ClaimAll starts an attempt for every waiting parent in a session: the user, or an agent, has just
// run a command.
func ClaimAll(h *app.App, sessionName string) { ClaimAfter(h, sessionName, "", 0, false) }

// looksAt returns a function that looks at the agents of a session; ask lists the panes. A wait for agents reads screens as
// well, for dialogs that nothing else reports.
func looksAt(h *app.App, name string, ask observe.AskPanes, look observe.ScreenPolicy) func(context.Context) ([]live.Facts, error) {
	return func(ctx context.Context) ([]live.Facts, error) {
		s, err := h.Load(name)
		if err != nil {
			return nil, err
		}
		f, err := observe.With(ctx, h, s, ask, look)
		if err != nil {
			return nil, err
		}
		return observe.LiveFacts(h, f), nil
	}
}
