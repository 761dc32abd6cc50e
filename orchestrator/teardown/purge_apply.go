package teardown

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Apply ends the session for good: it stops the session, removes every agent, deletes branches and,
// last, the record. With an error it returns what was done before.
func (p Purge) Apply(ctx context.Context, h *app.App) (*Purged, error) {
	purged := &Purged{Purge: p}
	if p.Session == nil {
		rescues, err := deleteTurns(ctx, h, p.m, p.Name, p.agentsWithTurns(), p.options.Force)
		purged.Rescues = rescues
		return purged, err
	}
	s := p.Session
	stop, err := StopNow(ctx, h, s, StopOptions{})
	if err != nil {
		return nil, err
	}
	if p.Gone != "" {
		return purged, p.applyGone(ctx, h, purged)
	}
	m, failed := p.m, p.removeAgents(ctx, h, p.m, stop, purged)
	goes := func(b Branch) bool {
		return slices.Contains(purged.Removed, b.Agent) || failed == nil && s.Agent(b.Agent) == nil
	}
	// Branches are deleted while the record still says that paw made them.
	branches := slices.DeleteFunc(slices.Clone(p.Branches), func(b Branch) bool { return !goes(b) })
	purged.Deleted, purged.Kept = deleteBranches(ctx, m, branches)
	if failed != nil {
		if len(purged.Removed) > 0 {
			failed = errors.Join(failed, dropAgents(ctx, h, s.Name, purged.Removed...))
		}
		return purged, failed
	}
	if err := p.removeChecks(ctx, h, m, purged); err != nil {
		return purged, err
	}
	if p.options.Force && !p.options.Tags {
		if err := purged.nameRescues(ctx, m); err != nil {
			return purged, err
		}
	}
	// The record lists the agents until the end: a purge that is interrupted here and repeated
	// finds their logs by it.
	err = h.DeleteSession(ctx, s.Name, purged.Removed, func() error {
		if err := p.deleteFiles(h, purged); err != nil || !p.options.Tags {
			return err
		}
		return p.deleteTurns(ctx, h, m, purged)
	})
	if errors.Is(err, app.ErrAdded) { // the record stays, without the agents that are gone
		err = errors.Join(err, dropAgents(ctx, h, s.Name, purged.Removed...))
	}
	if err == nil {
		h.Locks.Forget(s.Name)
	}
	return purged, err
}

// deleteTurns deletes the turns of a session, after a rescue ref was made for each landing in Taken.
func (p Purge) deleteTurns(ctx context.Context, h *app.App, m *worktree.Manager, purged *Purged) (err error) {
	for i, one := range p.Taken {
		if err := m.Refs().Set(ctx, turn.RescueRef(one.TurnSession, h.Now().Add(time.Duration(i)*time.Millisecond)), one.After); err != nil {
			return err
		}
	}
	purged.Rescues, err = deleteTurns(ctx, h, m, p.Name, p.agentsWithTurns(), p.options.Force)
	if err == nil && p.options.Force {
		purged.forgetRescues()
	}
	return err
}

// applyGone ends a session without a repository: its record goes.
func (p Purge) applyGone(ctx context.Context, h *app.App, purged *Purged) error {
	err := h.DeleteSession(ctx, p.Session.Name, app.AgentNames(p.Session), func() error { return p.deleteFiles(h, purged) })
	if err == nil {
		h.Locks.Forget(p.Session.Name)
	}
	return err
}

// nameRescues adds the rescue refs of an earlier purge that was interrupted before it could name
// them.
func (p *Purged) nameRescues(ctx context.Context, m *worktree.Manager) error {
	refs, err := turnRefs(ctx, m, p.Name, p.agentsWithTurns())
	if err != nil {
		return err
	}
	named := func(ref string) bool {
		return slices.ContainsFunc(p.Aside, func(r Removed) bool { return ref == r.RescueRef })
	}
	for _, t := range planTurns(p.Name, p.agentsWithTurns(), refs, emptyRescues(ctx, m, refs, nil), false) {
		p.Rescues = append(p.Rescues, slices.DeleteFunc(t.Rescues, named)...)
	}
	return nil
}

// forgetRescues removes rescue refs from the result that were deleted with the turns.
func (p *Purged) forgetRescues() {
	gone := p.agentsWithTurns()
	for i := range p.Aside {
		if r := &p.Aside[i]; slices.Contains(gone, r.Name) {
			r.RescueRef, r.Rescue = "", ""
		}
	}
}

// agentsWithTurns returns the agents whose turns the plan has.
func (p Purge) agentsWithTurns() []string {
	var agents []string
	for _, t := range p.Turns {
		agents = append(agents, t.Agent)
	}
	return agents
}

// removeAgents removes the agents of a stopped session, whose entries in the record stay. When one
// worktree has to stay, the agents after it stay, too.
func (p Purge) removeAgents(ctx context.Context, h *app.App, m *worktree.Manager, stop *Stop, purged *Purged) error {
	stopped := stop.facts
	if !stop.endedNothing() {
		var err error
		if stopped, err = observe.Revived(ctx, h, p.Session); err != nil {
			return err
		}
	}
	rec, err := record(ctx, h, p.Name, p.Agents...)
	if err != nil {
		return err
	}
	h.Step("purge.recorded")
	agents, notTorn := p.tearDown(ctx, h, m, rec, stopped)
	for i, agent := range agents {
		removed, err := agent.apply(ctx, h, m, rec, stopped)
		if len(removed.Kept()) > 0 {
			purged.Aside = append(purged.Aside, *removed)
		}
		if err != nil {
			return errors.Join(err, notTorn, giveUp(context.WithoutCancel(ctx), h, agents[i+1:]...))
		}
		purged.Removed = append(purged.Removed, agent.Name)
		h.Step("purge.removed")
	}
	return notTorn
}

// tearDown runs the teardowns of all agents, with as many goroutines as there are processors. It
// returns the agents that can be removed, and the errors of the others, which stay.
func (p Purge) tearDown(ctx context.Context, h *app.App, m *worktree.Manager, rec *session.Session, stopped observe.Facts) (agents []Agent, failed error) {
	agents = slices.Clone(p.Agents)
	errs := make([]error, len(agents))
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for i := range agents {
		if agents[i].Teardown.Command == "" {
			continue
		}
		all.Go(func() error {
			unlock, err := h.Hold(ctx, h.Locks.Removal, p.Name, agents[i].Name)
			if errs[i] = err; err != nil {
				return nil // each agent has an error of its own
			}
			defer unlock()
			if errs[i] = agents[i].end(ctx, h, rec, stopped); errs[i] == nil {
				errs[i] = agents[i].tearDown(ctx, h, m, rec)
			}
			return nil
		})
	}
	_ = all.Wait()
	var stay []Agent
	for i := range slices.Backward(agents) {
		if errs[i] != nil {
			stay = append(stay, agents[i])
			agents = slices.Delete(agents, i, i+1)
		}
	}
	if len(stay) > 0 {
		failed = errors.Join(errors.Join(errs...), giveUp(context.WithoutCancel(ctx), h, stay...))
	}
	return agents, failed
}

// removeChecks removes the worktree in which checks ran.
func (p Purge) removeChecks(ctx context.Context, h *app.App, m *worktree.Manager, purged *Purged) error {
	place, err := checks.RemovePlace(ctx, h, m, p.Session, p.options.NoTeardown)
	if place.Trash != "" {
		purged.Aside = append(purged.Aside, Removed{Agent: named("the checks", place.Aside...), Trash: place.Trash})
	}
	return err
}

// deleteFiles deletes paw's files of a session beside its record and, where the repository is gone,
// its turn logs. Texts of the user that agents never got are kept.
func (p Purge) deleteFiles(h *app.App, purged *Purged) error {
	known := app.AgentNames(p.Session)
	for _, agent := range append(known, h.Texts().StrayPrompts(p.Name, known)...) {
		dir, err := h.Texts().SetWordsAside(p.Name, agent)
		if err != nil {
			return err
		}
		if dir != "" {
			purged.Aside = append(purged.Aside, Removed{Agent: named(agent), WordsDir: dir})
		}
	}
	kept, err := h.Texts().SetQueueAside(p.Name)
	if err != nil {
		return err
	}
	if kept != "" {
		purged.Aside = append(purged.Aside, Removed{Agent: named("the queue"), WordsDir: kept})
	}
	dirs := []string{filepath.Join(h.Paths.LaunchDir(), p.Name), filepath.Dir(h.StateDir(p.Name, "x"))}
	if p.Gone != "" && p.options.Tags {
		dirs = append(dirs, filepath.Join(h.Paths.TurnsDir(), p.Name))
	}
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// named returns what stands in a result for an agent, or for something beside the agents.
func named(name string, aside ...string) Agent {
	return Agent{Agent: session.Agent{Name: name}, Aside: aside}
}
