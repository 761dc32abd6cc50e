package orchestrator

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/landing"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/teardown"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree/gitdir"
)

// finishFar finishes interrupted landings of work from other machines, in this repository or, with
// o.All, in any, and reports whether there were any.
func finishFar(ctx context.Context, h *app.App, o RecoverOptions) (finished bool, err error) {
	sessions, _, err := h.Store.ListAll()
	if err != nil {
		return false, err
	}
	here, _ := gitdir.Discover(h.Dir)
	for _, s := range sessions {
		if s.Host == "" || !o.All && s.GitCommonDir != here.CommonDir || !slices.ContainsFunc(s.Landings, landing.Unfinished) {
			continue
		}
		finished = true
		if err := finishMoves(ctx, h, s, o.DryRun); err != nil {
			return finished, err
		}
	}
	return finished, nil
}

// finishStop repeats a stop that was interrupted, to end what still runs.
func finishStop(ctx context.Context, h *app.App, s *session.Session) error {
	if !slices.ContainsFunc(s.Agents, func(w session.Agent) bool { return w.Phase == session.PhaseStopping }) {
		return nil
	}
	_, err := Stop(ctx, h, s, teardown.StopOptions{})
	return err
}

// finishCutShort finishes the interrupted stops and removals of single agents, and returns the
// record without the removed agents.
func finishCutShort(ctx context.Context, h *app.App, s *session.Session) (*session.Session, []launch.Result, error) {
	var results []launch.Result
	for _, w := range s.Agents {
		var err error
		switch {
		case w.Phase == session.PhaseStopping:
			_, err = Stop(ctx, h, s, teardown.StopOptions{Agents: []string{w.Name}, Only: true})
		case w.Phase.Removal():
			result := launch.Result{Agent: w.Name, CLI: w.CLI, Kind: launch.ResultRemoved, Reason: "its removal was finished"}
			var removed *teardown.Removed
			if removed, err = teardown.Resume(ctx, h, s, w.Name); err != nil {
				result.Refuse(err)
				err = nil
			}
			if removed.Landed {
				result.Reason += ", and that of its branch " + removed.Branch + ", which has landed"
			}
			result.Notes = removed.Kept()
			results = append(results, result)
		}
		if err != nil {
			return s, results, err
		}
	}
	s, err := h.Load(s.Name)
	return s, results, err
}

// withoutRemovals returns the facts without the agents whose removal was interrupted and would be
// finished, and what a recover would report of all such removals. An agent whose removal would be
// refused counts as stopped.
func withoutRemovals(ctx context.Context, h *app.App, f observe.Facts) (observe.Facts, []launch.Result) {
	var results []launch.Result
	var left []observe.Agent
	for _, a := range f.Agents {
		if !a.Record.Phase.Removal() {
			left = append(left, a)
			continue
		}
		result := launch.Result{Agent: a.Record.Name, CLI: a.Record.CLI, Kind: launch.ResultRemoved, Reason: "its removal would be finished"}
		if err := teardown.Refusal(ctx, h, f.Session, a.Record.Name); err != nil {
			result.Refuse(err)
			a.Record.Phase = session.PhaseStopped
			left = append(left, a)
		}
		results = append(results, result)
	}
	f.Agents = left
	return f, results
}

// finishMoves finishes interrupted moves of files and branches in the repository of a session, or
// with dryRun names them. A move that cannot be finished now does not keep agents from being
// recovered. A session whose repository is gone is skipped: recoverSession reports that.
func finishMoves(ctx context.Context, h *app.App, s *session.Session, dryRun bool) error {
	if app.Gone(s) {
		return nil
	}
	if dryRun {
		for _, one := range landing.CutShort(ctx, h, s) {
			h.Notef("%s was cut short, and would be finished", one)
		}
		return nil
	}
	found, err := landing.Finish(ctx, h, s, func(place gitdir.Checkout) error { return refuseAtWork(ctx, h, place) })
	for _, line := range found {
		h.Notef("%s", line)
	}
	return err
}

// refuseAtWork returns an error if the agent of a worktree may be writing to it now.
func refuseAtWork(ctx context.Context, h *app.App, place gitdir.Checkout) error {
	sessions, _, err := h.Store.List()
	if err != nil {
		return err
	}
	for _, s := range sessions {
		for _, w := range s.Agents {
			if w.WorktreePath == place.Path && s.GitCommonDir != "" && app.OwnerOf(s, w.Name) == place.Owner {
				_, err := observe.RefuseNotAtRest(ctx, h, s, w.Name)
				return err
			}
		}
	}
	return nil
}

// adopt updates the paths in a session's record when its repository was moved to the user's current
// directory, and finishes the moves that were interrupted there. repair mends the links between the
// repository and its worktrees.
func adopt(ctx context.Context, h *app.App, s *session.Session) (*session.Session, error) {
	here, places := h.Place().Moved(ctx, s)
	if len(places) == 0 {
		return s, nil
	}
	m := h.Manager(here)
	for _, w := range s.Agents {
		if path := places[w.Name]; path != "" {
			if err := m.Registry().Follow(ctx, app.PlanOf(s, w), path); err != nil {
				return nil, err
			}
		}
	}
	h.Step("adopt.followed")
	saved, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		rec.RepoPath, rec.GitCommonDir, rec.ProjectName = app.RootIn(here), here.CommonDir, filepath.Base(app.RootIn(here))
		for i := range rec.Agents {
			w := &rec.Agents[i]
			if path := places[w.Name]; path != "" {
				w.WorktreePath = path
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.Step("adopt.recorded")
	h.Notef("%s: its repository is at %s now", s.Name, app.RootIn(here))
	return saved, finishMoves(ctx, h, saved, false)
}

// repair mends the worktree registrations that interrupted steps of paw left in the repository of a
// session: git fails on one that is half made. It also locks again the worktrees of the session
// that the user has unlocked. At last it closes the turns that a crash has cut.
func repair(ctx context.Context, h *app.App, f observe.Facts) error {
	s := f.Session
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return err
	}
	report, err := m.Repair(ctx, func(reason string) bool {
		return strings.HasPrefix(reason, app.OwnerPrefix)
	})
	for _, line := range report {
		h.Notef("%s", line)
	}
	if err != nil {
		return err
	}
	for _, w := range s.Agents {
		if w.Here {
			continue
		}
		locked, err := m.Registry().Lock(ctx, app.PlanOf(s, w))
		if err != nil {
			return err
		}
		if locked {
			h.Notef("%s: its worktree was unlocked and is locked again, so that git keeps it", w.Name)
		}
	}
	turns.CloseCut(ctx, h, f)
	return nil
}
