package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"paw/session"
	"paw/tmux"
)

// RecoverOptions selects what to recover.
type RecoverOptions struct {
	Name   string
	Agents []string // only these of the named session, none for all of them
	All    bool
	DryRun bool
}

// Recovered is what became of one session.
type Recovered struct {
	Session *session.Session
	Results []Result
	Left    string // why the session was left alone, "" when it was recovered
	Err     error  // why it could not be recovered, when others were to be as well
}

// Recover brings sessions back: the same panes with each CLI's own
// conversation. It starts no agent twice, deletes nothing and sends no prompt.
// Unreadable records come back as problems beside the sessions that can be read.
func (p *Paw) Recover(ctx context.Context, o RecoverOptions) (all []Recovered, problems []error, err error) {
	if err := p.requireTools(ctx); err != nil {
		return nil, nil, err
	}
	sessions, problems, err := p.selectSessions(StatusOptions{Name: o.Name, All: o.All})
	if err != nil {
		return nil, problems, err
	}
	for _, name := range o.Agents {
		if _, err := agentNamed(sessions[0], name); err != nil {
			return nil, problems, err
		}
	}
	if len(sessions) == 0 && !o.All {
		return nil, problems, failf(KindNotFound, "no session here").hint("paw status --all")
	}
	for _, s := range sessions {
		one, err := p.recoverSession(ctx, s, o)
		if err != nil && (len(sessions) == 1 || ctx.Err() != nil) {
			return all, problems, err
		}
		if err != nil { // must not keep the others from coming back
			one = Recovered{Session: s, Err: err}
		}
		all = append(all, one)
	}
	return all, problems, nil
}

// finishStop ends what a stop that was cut short left running.
func (p *Paw) finishStop(ctx context.Context, s *session.Session, dryRun bool) error {
	for _, w := range s.Worktrees {
		if w.Phase == session.PhaseStopping && !dryRun {
			_, err := p.Stop(ctx, s, StopOptions{})
			return err
		}
	}
	return nil
}

// finishCutShort carries out what an interrupted stop or remove of single
// agents had begun, and returns the record without the agents that are gone.
func (p *Paw) finishCutShort(ctx context.Context, s *session.Session) (*session.Session, []Result, error) {
	var results []Result
	for _, w := range s.Worktrees {
		var err error
		switch w.Phase {
		case session.PhaseStopping:
			_, err = p.Stop(ctx, s, StopOptions{Agents: []string{w.Agent}, Only: true})
		case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
			result := Result{Agent: w.Agent, CLI: w.CLI, Kind: ResultRemoved, Reason: "its removal was finished"}
			removed := &Removed{Agent: w.Agent}
			if err = p.resumeRemoval(ctx, s, w.Agent, removed); err != nil {
				result.Kind, result.Reason, result.Hints = ResultRefused, err.Error(), hintsOf(err)
				err = nil
			}
			result.Notes = removed.Kept()
			results = append(results, result)
		case session.PhaseCreating, session.PhaseLive, session.PhaseStopped, session.PhaseExited:
		}
		if err != nil {
			return s, results, err
		}
	}
	s, err := p.load(s.Name)
	return s, results, err
}

func (p *Paw) recoverSession(ctx context.Context, s *session.Session, o RecoverOptions) (Recovered, error) {
	dryRun := o.DryRun
	if s.Status == session.StatusStopped && o.Name == "" {
		return Recovered{Session: s, Left: "stopped; paw recover " + s.Name + " brings it back"}, p.finishStop(ctx, s, dryRun)
	}
	s, err := p.adoptFor(ctx, s, dryRun)
	if err != nil {
		return Recovered{}, err
	}
	if p, err = p.configuredFor(s); err != nil {
		return Recovered{}, err
	}
	var finished []Result
	if !dryRun {
		if s, finished, err = p.finishCutShort(ctx, s); err != nil {
			return Recovered{}, err
		}
	}
	var f facts
	if dryRun {
		f, err = p.observe(ctx, s)
	} else {
		f, err = p.observeRevived(ctx, s)
	}
	if err != nil {
		return Recovered{}, err
	}
	if f, err = p.awaitDying(ctx, f); err != nil {
		return Recovered{}, err
	}
	if !dryRun {
		if err := p.repair(ctx, s); err != nil {
			return Recovered{}, err
		}
		p.closeCutTurns(ctx, f)
	}
	if len(o.Agents) > 0 {
		f.agents = slices.DeleteFunc(f.agents, func(a agentFacts) bool { return !slices.Contains(o.Agents, a.record.Agent) })
	}
	jobs, err := p.planRecover(ctx, f, o.Name != "")
	if err != nil {
		return Recovered{}, err
	}
	if dryRun {
		waits, err := p.waitsOf(ctx, s, p.askTmux())
		return Recovered{Session: s, Results: withWaits(resultsOf(s, jobs), waits)}, err
	}
	rec, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		rec.Status = session.StatusActive
		for _, j := range jobs {
			intend(rec.Worktree(j.agent), j)
		}
		return nil
	})
	if err != nil {
		return Recovered{}, p.recordError(s.Name, err)
	}
	p.Step("recover.recorded")
	s, results, err := p.bringUp(ctx, rec, jobs)
	if errors.Is(err, errNameTaken) {
		return Recovered{}, withHint(err, "paw purge "+rec.Name)
	}
	if err != nil {
		return Recovered{}, err
	}
	waits, err := p.resumeWaits(ctx, s, p.askTmux())
	if err != nil {
		return Recovered{}, p.recordError(s.Name, err)
	}
	p.watchWaits(ctx, s, owedIn(waits))
	return Recovered{Session: s, Results: append(finished, withWaits(results, waits)...)}, nil
}

// intend writes the plan for one agent into its record, before anything is
// made. Ids are only ever added; the one of the plan is dropped when another paw
// chose in the meantime.
func intend(w *session.Worktree, j job) {
	if w == nil || j.result == ResultRefused || j.result == ResultStopped {
		return
	}
	if j.result == ResultCompleted {
		if w.Phase == session.PhaseLive {
			w.Phase = session.PhaseExited
		}
		return
	}
	if w.Conversation() == j.planned {
		w.AddConversation(cmp.Or(j.found, j.chosen))
	}
	if w.Phase == session.PhaseStopping || w.Phase == session.PhaseStopped || w.Phase == session.PhaseExited {
		w.Phase = session.PhaseLive
	}
}

// observeRevived is observe for commands that change something: a server that
// lost its socket is asked to make it again. One without a socket may also be on
// its way out, having lost its last pane: it is waited for.
func (p *Paw) observeRevived(ctx context.Context, s *session.Session) (facts, error) {
	f, err := p.observe(ctx, s)
	if err != nil || f.tmux != session.TmuxUnknown || !errors.Is(f.tmuxErr, tmux.ErrNoServer) {
		return f, err
	}
	revived := tmux.Revive(s.Tmux.ServerPID, s.Tmux.ServerStarted)
	f, err = p.observe(ctx, s)
	if revived != nil && err == nil && f.tmux == session.TmuxUnknown {
		return f, fmt.Errorf("tmux server %d: %w", s.Tmux.ServerPID, revived)
	}
	for tries := 0; err == nil && f.tmux == session.TmuxUnknown && tries < 100; tries++ {
		settle(ctx, tick)
		f, err = p.observe(ctx, s)
	}
	return f, err
}

// resultsOf shows a plan as the results it would have.
func resultsOf(s *session.Session, jobs []job) []Result {
	results := make([]Result, len(jobs))
	for i, j := range jobs {
		results[i] = Result{Agent: j.agent, CLI: s.Worktree(j.agent).CLI, Kind: j.result, Reason: j.reason, Hints: j.hints, Notes: j.notes}
	}
	return results
}
