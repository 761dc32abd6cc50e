package children

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
)

// countFiles fills in the numbers of changed files of finished agents' last turns. A number that
// cannot be counted stays unknown.
func countFiles(ctx context.Context, h *app.App, s *session.Session, w *Waited) {
	var results []*live.Result
	for i := range w.Agents {
		if w.Agents[i].Finished {
			results = append(results, &w.Agents[i].Result)
		}
	}
	turns.CountFiles(ctx, h, s, results)
}

// WaitOptions selects the agents to wait for, and bounds the wait.
type WaitOptions struct {
	Agents  []string      // empty for the caller's children or, outside of an agent, all agents
	Any     bool          // the first finished agent is enough
	Timeout time.Duration // 0 for no limit
	Look    func(*Waited) // called with the state at each look; may be nil
}

// Awaited is an agent for which a wait waits.
type Awaited struct {
	live.Result
	Status   session.AgentStatus
	Finished bool // until then Result is empty

	Host    string // host of an agent on another machine, "" for this one
	Session string // session of an agent on another machine, else ""
}

// Name returns the agent's name as a user types it: AGENT or HOST:AGENT.
func (a Awaited) Name() string {
	if a.Host == "" {
		return a.Agent
	}
	return session.FarName(a.Host, a.Agent)
}

// Waited is the state of a wait when it ended.
type Waited struct {
	Session string
	Agents  []Awaited
	Anybody bool // no agent was named: the wait skips agents that were never prompted
}

// Wait waits until agents have finished a turn. It writes nothing itself. Errors about agents (one
// needs the user, one failed, the time is over) come with the state; only a wait that could not
// begin returns none.
func Wait(ctx context.Context, h *app.App, s *session.Session, o WaitOptions) (*Waited, error) {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	names, err := whomToAwait(h, s, o.Agents)
	if err != nil {
		return nil, err
	}
	if caller := callerIn(h, s); caller != "" {
		unlock, _ := h.Locks.Awaiting(s.Name, caller, names) // the lock is only for status
		defer unlock()
	}
	ClaimAll(h, s.Name)
	branches := make([]live.Branch, len(names))
	for i, name := range names {
		branches[i] = branchOf(s, s.Agent(name))
	}
	registry := live.NewRegistry(looksAt(h, s.Name, observe.AskTmux(h), observe.WhereRunning))
	err = registry.EnsureLoaded(ctx, branches...)
	if errors.Is(err, live.ErrNoAgent) {
		return nil, errs.New(errs.NotFound, "%s: an agent was removed just now", s.Name).Hint("paw status %s", s.Name)
	}
	if err != nil {
		return nil, interruptedOr(ctx, err)
	}
	began := h.Now()
	for {
		waited := &Waited{Session: s.Name, Anybody: len(o.Agents) == 0}
		for i, name := range names {
			one, there := registry.Get(branches[i])
			waited.Agents = append(waited.Agents, awaitedOf(name, one, there))
		}
		if o.Look != nil {
			o.Look(waited)
		}
		over := o.Timeout > 0 && h.Now().Sub(began) >= o.Timeout
		if waited.enough(o.Any) || waited.needsUser() != nil || waited.unseen() != nil || over {
			countFiles(ctx, h, s, waited)
			return waited, waited.Verdict(o)
		}
		every := waitPollLater
		if h.Now().Sub(began) < waitPollSoon {
			every = waitPollFirst
		}
		if o.Timeout > 0 {
			every = min(every, max(o.Timeout-h.Now().Sub(began), 0))
		}
		poll.Sleep(ctx, every)
		if err := interruptedOr(ctx, registry.Refresh(ctx)); err != nil {
			return nil, err
		}
	}
}

// interruptedOr returns an error for the user's interrupt if there was one, else err.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errs.New(errs.Interrupted, "interrupted")
	}
	return err
}

// callerIn returns the agent in whose pane the command was run, "" for none of this session.
func callerIn(h *app.App, s *session.Session) string {
	if name := h.Getenv("PAW_AGENT"); h.Getenv("PAW_SESSION") == s.Name && s.Agent(name) != nil {
		return name
	}
	return ""
}

// whomToAwait returns the agents for which a wait waits.
func whomToAwait(h *app.App, s *session.Session, named []string) ([]string, error) {
	caller := callerIn(h, s)
	for _, name := range named {
		if _, err := app.AgentNamed(s, name); err != nil {
			return nil, err
		}
		if name == caller {
			return nil, errs.New(errs.Usage, "%s: would wait for itself", name).Hint("paw wait --help")
		}
	}
	switch {
	case len(named) > 0:
		return app.Once(named), nil
	case caller == "":
		return app.AgentNames(s), nil
	}
	children := s.Children(caller)
	if len(children) == 0 {
		return nil, errs.New(errs.Failed, "%s: has no children", caller).Hint("paw spawn --help")
	}
	return children, nil
}

// awaitedOf returns the present state of an agent.
func awaitedOf(name string, one live.Family, there bool) Awaited {
	if !there {
		return Awaited{Result: live.Removed(name), Finished: true}
	}
	a := Awaited{Result: one.Parent.Result(), Status: one.State(), Finished: one.Parent.Finished()}
	if !a.Finished {
		a.Result = live.Result{Agent: a.Agent, CLI: a.CLI, Branch: a.Branch, Turn: a.Turn}
	}
	return a
}

// enough reports whether no agent has to be waited for any longer.
func (w *Waited) enough(one bool) bool {
	if one && slices.ContainsFunc(w.Agents, func(a Awaited) bool { return a.Finished }) {
		return true
	}
	return !slices.ContainsFunc(w.Agents, w.WaitsFor)
}

// WaitsFor reports whether the wait goes on for an agent: not for one that was never prompted,
// unless it was named.
func (w *Waited) WaitsFor(a Awaited) bool {
	return !a.Finished && (!w.Anybody || !a.neverAsked())
}

// NobodyAtWork reports whether no agent was ever prompted, so that there was nothing to wait for.
func (w *Waited) NobodyAtWork() bool {
	return w.Anybody && !slices.ContainsFunc(w.Agents, func(a Awaited) bool { return !a.neverAsked() })
}

// neverAsked reports whether the agent is idle and has had no turn.
func (a Awaited) neverAsked() bool {
	return !a.Finished && a.Status.State == session.StateIdle && a.Turn == 0
}

// needsUser returns the first agent that waits for the user, nil for none.
func (w *Waited) needsUser() *Awaited {
	return w.first(func(a Awaited) bool { return a.Status.State == session.StateWaitingInput })
}

// unseen returns the first agent whose hooks cannot record its end, nil for none.
func (w *Waited) unseen() *Awaited {
	return w.first(func(a Awaited) bool { return a.Status.Cause == session.CauseUnrecorded })
}

func (w *Waited) first(is func(Awaited) bool) *Awaited {
	if i := slices.IndexFunc(w.Agents, func(a Awaited) bool { return !a.Finished && is(a) }); i >= 0 {
		return &w.Agents[i]
	}
	return nil
}

// Verdict returns the error with which a wait in this state ends, nil for success.
func (w *Waited) Verdict(o WaitOptions) error {
	needs := w.needsUser()
	var failed, left []string
	for _, a := range w.Agents {
		switch {
		case w.WaitsFor(a):
			left = append(left, a.Name())
		case a.Failed:
			failed = append(failed, a.Name())
		}
	}
	switch {
	case !w.enough(o.Any) && needs != nil:
		e := errs.New(errs.Waiting, "%s: %s", needs.Name(), observe.WaitsFor(needs.Status))
		whole, attach := w.Session+"/"+needs.Agent, w.Session+" "+needs.Agent
		if needs.Host != "" {
			whole = session.FarName(needs.Host, needs.Session+"/"+needs.Agent)
			attach = whole
		}
		if needs.Status.Cause != session.CauseDialog {
			e = e.Hint("paw answer %s", whole)
		}
		return e.Hint("paw attach %s", attach)
	case !w.enough(o.Any) && w.unseen() != nil:
		return errs.New(errs.Failed, "%s: %s", w.unseen().Name(), w.unseen().Status.Reason).Hint("paw doctor")
	case !w.enough(o.Any):
		return errs.New(errs.Timeout, "%s: not finished after %s", strings.Join(left, ", "), o.Timeout.Round(time.Millisecond)).Hint("paw status %s", w.Session)
	case len(failed) > 0:
		e := errs.New(errs.AgentFailed, "%s: failed", strings.Join(failed, ", "))
		for _, a := range w.Agents {
			if a.Failed && a.Host == "" && strings.HasPrefix(a.Status.Reason, "set-up failed") {
				return e.Hint("paw setup %s/%s", w.Session, a.Agent)
			}
		}
		return e.Hint("paw turns %s --session %s", strings.Join(failed, " "), w.Session)
	}
	return nil
}
