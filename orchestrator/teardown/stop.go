package teardown

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// StopOptions selects what to stop.
type StopOptions struct {
	Agents []string // agents to stop; empty for the whole session
	Only   bool     // leave running the agents that these have started
	DryRun bool
}

// Stop is the plan for stopping a session, or some of its agents.
type Stop struct {
	Session *session.Session
	Named   []string // agents that the user named
	Whole   bool     // the whole session, not only some agents
	Already bool     // no process of the session runs
	Agents  []Ended
	GoOn    []string // running agents that the named ones started, which are not stopped
	Others  []string // windows of the user in paw's tmux session, where nothing else stays there

	facts observe.Facts
}

// Ended is the plan for stopping one agent.
type Ended struct {
	Agent string
	Pane  string   // pane to close, "" for none
	Shown []string // terminals that show the pane
	PID   int      // process of the CLI, 0 where it does not run
	Turn  int      // open turn, 0 for none
	Phase session.Phase
	// Queued describes the prompts that the CLI had queued, "" for none.
	Queued string
	runs   bool
}

// PlanStop plans a stop. A session that was stopped before and has nothing left to end is left
// alone.
func PlanStop(f observe.Facts, o StopOptions) (Stop, error) {
	p, err := planStop(f, o)
	if err == nil && p.Whole && f.Session.Status == session.StatusStopped && settled(f) {
		p.Already, p.Agents = true, nil
	}
	return p, err
}

// planStop is like PlanStop, for a stop that is recorded already. It refuses when tmux does not
// answer, since nobody knows what runs.
func planStop(f observe.Facts, o StopOptions) (Stop, error) {
	s := f.Session
	targets := o.Targets(s)
	p := Stop{Session: s, Named: o.Agents, Whole: len(o.Agents) == 0, GoOn: goOn(f, targets), facts: f}
	if f.Tmux == session.TmuxUnknown {
		return p, observe.Unanswered(s, f.TmuxErr)
	}
	if err := observe.RefuseElsewhere(f, targets); err != nil {
		return p, err
	}
	if p.Whole || !slices.ContainsFunc(f.Agents, func(a observe.Agent) bool { return a.Pane != nil && !slices.Contains(targets, a.Record.Name) }) {
		p.Others = windowsOf(f.Others)
	}
	for _, name := range targets {
		if a := f.Agent(name); a != nil {
			p.Agents = append(p.Agents, endOf(*a))
		}
	}
	return p, nil
}

// windowsOf names the windows of panes, each once.
func windowsOf(panes []tmux.Pane) []string {
	var windows []string
	for _, pane := range panes {
		windows = append(windows, fmt.Sprintf("window %s (%s) of tmux session %s", pane.WindowIndex, pane.WindowName, pane.SessionName))
	}
	return app.Once(windows)
}

func endOf(a observe.Agent) Ended {
	e := Ended{Agent: a.Record.Name, PID: a.Lock.PID(), Phase: session.PhaseStopped}
	e.runs = a.Pane != nil || a.Lock.State == session.LockHeld
	if a.Exited() {
		e.Phase = session.PhaseExited
	}
	if a.Pane != nil {
		e.Pane, e.Shown = a.Pane.ID, a.Pane.Terminals
	}
	if last := a.Turns.Last; last != nil && last.State == turn.InProgress {
		e.Turn = last.Number
	}
	return e
}

// settled reports whether a stopped session has nothing left to end.
func settled(f observe.Facts) bool {
	return len(f.Left) == 0 && !slices.ContainsFunc(f.Agents, func(a observe.Agent) bool {
		return a.Pane != nil || a.Lock.State != session.LockFree || a.Record.Phase == session.PhaseStopping
	})
}

// Targets returns the agents to stop, in the order of the record.
func (o StopOptions) Targets(s *session.Session) []string {
	all := app.AgentNames(s)
	if len(o.Agents) == 0 {
		return all
	}
	named := slices.Clone(o.Agents)
	if !o.Only {
		for _, name := range o.Agents {
			named = append(named, s.Descendants(name)...)
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(named, name) })
}

// awaited returns the agents for which the stop has to wait, since another paw makes their worktrees
// and would launch them although the stop is recorded. It launches no child of an agent that is
// stopped, and nothing in a session that is stopped as a whole.
func (o StopOptions) awaited(s *session.Session) []string {
	targets := o.Targets(s)
	return slices.DeleteFunc(slices.Clone(targets), func(name string) bool {
		w := s.Agent(name)
		return len(o.Agents) == 0 || w.Phase != session.PhaseCreating || slices.Contains(targets, w.Parent)
	})
}

// goOn returns running descendants of the stopped agents that are not stopped themselves.
func goOn(f observe.Facts, targets []string) []string {
	var names []string
	for _, target := range targets {
		for _, name := range f.Session.Descendants(target) {
			a := f.Agent(name)
			if a.Lock.State != session.LockFree && !slices.Contains(targets, name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// ended returns the agents that had a pane or ran.
func (p Stop) ended() []string {
	var names []string
	for _, e := range p.Agents {
		if e.runs {
			names = append(names, e.Agent)
		}
	}
	return names
}

// String describes the plan, line by line.
func (p Stop) String() string {
	if p.Already {
		return p.Done()
	}
	var lines []string
	for _, e := range p.Agents {
		lines = append(lines, e.lines()...)
	}
	for _, name := range p.GoOn {
		lines = append(lines, name+": runs on")
	}
	for _, window := range p.Others {
		lines = append(lines, window+" is yours and stays")
	}
	return strings.Join(lines, "\n")
}

// lines describe the end of one agent.
func (e Ended) lines() []string {
	lines := []string{e.Agent + ": is stopped"}
	switch {
	case e.PID != 0 && e.Pane != "":
		lines[0] = fmt.Sprintf("%s: close pane %s and end pid %d", e.Agent, e.Pane, e.PID)
	case e.PID != 0:
		lines[0] = fmt.Sprintf("%s: end pid %d, which has no pane", e.Agent, e.PID)
	case e.Pane != "":
		lines[0] = fmt.Sprintf("%s: close pane %s", e.Agent, e.Pane)
	case e.runs:
		lines[0] = e.Agent + ": end what holds its lock"
	}
	for _, terminal := range e.Shown {
		lines = append(lines, e.Agent+": terminal "+terminal+" shows it")
	}
	if e.Turn != 0 {
		lines = append(lines, fmt.Sprintf("%s: close turn %d, which is open, as stopped", e.Agent, e.Turn))
	}
	if e.Queued != "" {
		lines = append(lines, e.Agent+": "+e.Queued)
	}
	return lines
}

// Done reports what the stop did, with a line for each agent that had queued prompts.
func (p Stop) Done() string {
	text := p.done()
	for _, e := range p.Agents {
		if e.Queued != "" {
			text += "\n" + e.Agent + ": " + e.Queued
		}
	}
	return text
}

// done reports in one line what the stop did.
func (p Stop) done() string {
	var text string
	switch ended := strings.Join(p.ended(), ", "); {
	case p.Already:
		return p.Session.Name + " is stopped already; " + errs.Line("paw recover %s", p.Session.Name) + " brings it back"
	case p.Whole:
		return p.Session.Name + " stopped; branches, worktrees and conversations stay"
	case ended == "":
		text = strings.Join(p.Named, ", ") + " did not run; " + errs.Line("paw recover %s", strings.Join(append([]string{p.Session.Name}, p.Named...), " ")) + " brings it back"
	default:
		text = ended + " stopped; branches, worktrees and conversations stay"
	}
	if len(p.GoOn) > 0 {
		text += "; still at work: " + strings.Join(p.GoOn, ", ")
	}
	return text
}

// StopNow records the stop, looks at what runs, and ends it. Recording comes first: from then on no
// start, add or recover in progress opens another pane (see launch.openPanes). A full disk must not
// keep agents running.
func StopNow(ctx context.Context, h *app.App, s *session.Session, o StopOptions) (*Stop, error) {
	if none := app.NoTmux(s.Name, tmux.Installed()); none != nil {
		return nil, none // nothing could be ended, so no stop is recorded
	}
	stopping := func(string) session.Phase { return session.PhaseStopping }
	before, whole := s, len(o.Agents) == 0
	if err := launch.AwaitMade(ctx, h, s.Name, o.awaited(s)); err != nil {
		return nil, err
	}
	turns.CloseDead(ctx, h, s, o.Targets(s)...)
	rec, _ := savePhase(ctx, h, s.Name, o.Targets, stopping, whole) // a failure is ignored: the record is written again at the end
	if rec != nil {
		s = rec // includes agents that were added since s was loaded
	}
	h.Step("stop.recorded")
	f, err := observe.Revived(ctx, h, s)
	if err != nil {
		return nil, err
	}
	p, err := planStop(f, o)
	if err != nil {
		return nil, errors.Join(err, unstop(ctx, h, before))
	}
	if err := p.apply(ctx, h); err != nil {
		return nil, err
	}
	if whole { // what is made opens no pane any more: the stop need not wait for it before it ends the others
		brief, cancel := context.WithTimeout(ctx, app.LockWait)
		defer cancel()
		for _, name := range o.Targets(s) {
			if err := launch.AwaitMade(brief, h, s.Name, []string{name}); err != nil {
				pid, _ := h.Locks.CreatedBy(s.Name, name)
				h.Notef("%s, which goes on: %s", err, errs.Line("kill %d", pid))
			}
		}
	}
	return &p, nil
}

// apply ends the agents, closes their turns and records that they have stopped.
func (p Stop) apply(ctx context.Context, h *app.App) error {
	s := p.Session
	var targets []string
	phases := map[string]session.Phase{}
	for _, e := range p.Agents {
		targets, phases[e.Agent] = append(targets, e.Agent), e.Phase
	}
	if _, err := launch.EndAgents(ctx, h, s, p.facts, func(name string) bool { return slices.Contains(targets, name) }); err != nil {
		return err
	}
	if p.Whole { // with some agents a start of others may be about to use the panes
		if err := h.TmuxFor(s).KillPanes(ctx, p.facts.Left); err != nil {
			return app.TmuxError(err)
		}
	}
	for _, name := range targets {
		turns.Cut(ctx, h.Agent(s, s.Agent(name)), turn.ReasonStopped)
	}
	h.Step("stop.turns-closed")
	_, err := savePhase(ctx, h, s.Name, func(*session.Session) []string { return targets },
		func(name string) session.Phase { return phases[name] }, p.Whole)
	if err != nil {
		return errs.New(errs.Failed, "%s: stopped, but not recorded: %w", s.Name, err).Hint("%s", p.again(targets))
	}
	h.Step("stop.finished")
	return nil
}

// again returns the command that stops these agents and no others.
func (p Stop) again(targets []string) string {
	if p.Whole {
		return "paw stop " + p.Session.Name
	}
	return "paw stop " + p.Session.Name + " " + strings.Join(targets, " ") + " --only"
}

// endedNothing reports whether all agents had ended before. Their facts stay valid: nobody opens a
// pane once it is recorded that they stop.
func (p Stop) endedNothing() bool {
	return p.facts.Tmux != session.TmuxUnknown && !slices.ContainsFunc(p.facts.Agents, func(a observe.Agent) bool {
		return a.Pane != nil || a.Lock.State != session.LockFree
	})
}
