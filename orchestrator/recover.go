package orchestrator

import (
	"context"
	"errors"
	"slices"

	"paw/orchestrator/family"
	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/launch"
	"paw/orchestrator/turns"
	"paw/session"
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
	Results []launch.Result
	Left    string // why the session was left alone, "" when it was recovered
	Err     error  // why it could not be recovered, when others were to be as well
}

// Recover brings sessions back: the same panes with each CLI's own
// conversation. It starts no agent twice, deletes nothing and sends no prompt.
// Unreadable records come back as problems beside the sessions that can be read.
func Recover(ctx context.Context, h *home.Home, o RecoverOptions) (all []Recovered, problems []error, err error) {
	if err := h.RequireTools(ctx); err != nil {
		return nil, nil, err
	}
	sessions, problems, err := selectSessions(h, StatusOptions{Name: o.Name, All: o.All})
	if err != nil {
		return nil, problems, err
	}
	for _, name := range o.Agents {
		if _, err := home.AgentNamed(sessions[0], name); err != nil {
			return nil, problems, err
		}
	}
	if len(sessions) == 0 && !o.All {
		return nil, problems, fault.New(fault.NotFound, "no session here").Hint("paw status --all")
	}
	for _, s := range sessions {
		one, err := recoverSession(ctx, h, s, o)
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
func finishStop(ctx context.Context, h *home.Home, s *session.Session, dryRun bool) error {
	for _, w := range s.Worktrees {
		if w.Phase == session.PhaseStopping && !dryRun {
			_, err := Stop(ctx, h, s, StopOptions{})
			return err
		}
	}
	return nil
}

// finishCutShort carries out what an interrupted stop or remove of single
// agents had begun, and returns the record without the agents that are gone.
func finishCutShort(ctx context.Context, h *home.Home, s *session.Session) (*session.Session, []launch.Result, error) {
	var results []launch.Result
	for _, w := range s.Worktrees {
		var err error
		switch w.Phase {
		case session.PhaseStopping:
			_, err = Stop(ctx, h, s, StopOptions{Agents: []string{w.Agent}, Only: true})
		case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
			result := launch.Result{Agent: w.Agent, CLI: w.CLI, Kind: launch.ResultRemoved, Reason: "its removal was finished"}
			removed := &Removed{Agent: w.Agent}
			if err = resumeRemoval(ctx, h, s, w.Agent, removed); err != nil {
				result.Kind, result.Reason, result.Hints = launch.ResultRefused, err.Error(), fault.HintsOf(err)
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
	s, err := h.Load(s.Name)
	return s, results, err
}

func recoverSession(ctx context.Context, h *home.Home, s *session.Session, o RecoverOptions) (Recovered, error) {
	dryRun := o.DryRun
	if s.Status == session.StatusStopped && o.Name == "" {
		return Recovered{Session: s, Left: "stopped; paw recover " + s.Name + " brings it back"}, finishStop(ctx, h, s, dryRun)
	}
	s, err := adoptFor(ctx, h, s, dryRun)
	if err != nil {
		return Recovered{}, err
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return Recovered{}, err
	}
	var finished []launch.Result
	if !dryRun {
		if s, finished, err = finishCutShort(ctx, h, s); err != nil {
			return Recovered{}, err
		}
	}
	var f fleet.Facts
	if dryRun {
		f, err = fleet.Observe(ctx, h, s)
	} else {
		f, err = fleet.ObserveRevived(ctx, h, s)
	}
	if err != nil {
		return Recovered{}, err
	}
	if f, err = fleet.AwaitDying(ctx, h, f); err != nil {
		return Recovered{}, err
	}
	if !dryRun {
		if err := repair(ctx, h, s); err != nil {
			return Recovered{}, err
		}
		turns.CloseCut(ctx, h, f)
	}
	if len(o.Agents) > 0 {
		f.Agents = slices.DeleteFunc(f.Agents, func(a fleet.Agent) bool { return !slices.Contains(o.Agents, a.Record.Agent) })
	}
	jobs, err := launch.PlanRecover(ctx, h, f, o.Name != "")
	if err != nil {
		return Recovered{}, err
	}
	if dryRun {
		waits, err := family.WaitsOf(ctx, h, s, fleet.AskTmux(h))
		return Recovered{Session: s, Results: family.WithWaits(resultsOf(s, jobs), waits)}, err
	}
	rec, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		rec.Status = session.StatusActive
		for _, j := range jobs {
			launch.Intend(rec.Worktree(j.Agent), j)
		}
		return nil
	})
	if err != nil {
		return Recovered{}, h.RecordError(s.Name, err)
	}
	h.Step("recover.recorded")
	s, results, err := launch.BringUp(ctx, h, rec, jobs)
	if errors.Is(err, turns.ErrNameTaken) {
		return Recovered{}, fault.WithHints(err, "paw purge "+rec.Name)
	}
	if err != nil {
		return Recovered{}, err
	}
	waits, err := family.ResumeWaits(ctx, h, s, fleet.AskTmux(h))
	if err != nil {
		return Recovered{}, h.RecordError(s.Name, err)
	}
	return Recovered{Session: s, Results: append(finished, family.WithWaits(results, waits)...)}, nil
}

// resultsOf shows a plan as the results it would have.
func resultsOf(s *session.Session, jobs []launch.Job) []launch.Result {
	results := make([]launch.Result, len(jobs))
	for i, j := range jobs {
		results[i] = launch.Result{Agent: j.Agent, CLI: s.Worktree(j.Agent).CLI, Kind: j.Result, Reason: j.Reason, Hints: j.Hints, Notes: j.Notes}
	}
	return results
}
