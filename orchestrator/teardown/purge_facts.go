package teardown

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// PlanPurge looks at a session and plans the purge.
func PlanPurge(ctx context.Context, h *app.App, s *session.Session, o Options) (Purge, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil && !errors.Is(err, app.ErrGone) {
		return Purge{}, err
	}
	f := purgeFacts{gone: err != nil}
	if f.fleet, err = atRest(ctx, h, s, app.AgentNames(s), o.Force); err != nil {
		return Purge{}, err
	}
	if f.gone {
		f.there = directoriesOf(s)
	} else if err := f.look(ctx, h, m, s, o); err != nil {
		return Purge{}, err
	}
	p, err := planPurge(f, o)
	p.m, p.Teardown = m, h.Teardown(o.NoTeardown)
	for i := range p.Agents {
		p.Agents[i].Words = h.Texts().Words(s.Name, p.Agents[i].Name)
	}
	return p, err
}

// directoriesOf returns the session's worktrees that exist.
func directoriesOf(s *session.Session) []string {
	var there []string
	for _, w := range s.Agents {
		if exists(w.WorktreePath) {
			there = append(there, w.WorktreePath)
		}
	}
	return there
}

// look gathers the facts that are in the session's repository.
func (f *purgeFacts) look(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, o Options) (err error) {
	f.agents = lookAtAgents(ctx, h, m, f.fleet, app.AgentNames(s), o)
	f.landings = landing.CutShort(ctx, h, s)
	if f.turns, err = agentsWithTurns(ctx, h, m, s); err != nil {
		return err
	}
	if f.refs, err = turnRefs(ctx, m, s.Name, f.turns); err != nil {
		return err
	}
	var leaving []worktree.Plan
	for _, a := range f.agents {
		leaving = append(leaving, a.plan)
	}
	f.branches = lookAtBranches(ctx, m, s.Name, slices.Concat(s.Agents, removedBefore(h, s, f.turns)), leaving)
	f.checks, err = landing.CheckPlaceOf(ctx, m, s)
	return err
}

// removedBefore returns agents of the session that were removed earlier, by their turn logs:
// branches that paw made for them may still exist.
func removedBefore(h *app.App, s *session.Session, withTurns []string) []session.Agent {
	logs, _ := os.ReadDir(filepath.Join(h.Paths.TurnsDir(), s.Name))
	var removed []session.Agent
	for _, d := range logs {
		if agent := d.Name(); s.Agent(agent) == nil && slices.Contains(withTurns, agent) {
			removed = append(removed, session.Agent{Name: agent, Branch: app.AutomaticBranch(s.Name, agent)})
		}
	}
	return removed
}

// PlanPurgeTurns plans the deletion of what a session without a record has left in the current
// repository: turn tags, hidden refs and turn logs. Rescue refs, which may be the only copy of
// work, and logs of turns in other repositories are deleted only with force.
func PlanPurgeTurns(ctx context.Context, h *app.App, name string, force bool) (Purge, error) {
	p := Purge{Name: name, options: Options{Tags: true, Force: force}}
	if err := session.ValidateName("session", name); err != nil {
		return p, errs.New(errs.Usage, "%w", err)
	}
	repository, err := gitdir.Discover(h.Dir)
	if err != nil {
		return p, err
	}
	p.m = h.Manager(repository)
	space, err := turns.NamesOf(ctx, h, p.m)
	if err != nil {
		return p, err
	}
	earlier := space.Of(name)
	agents := slices.Concat(earlier.Here, earlier.Fetched)
	if len(agents) > 0 && !slices.Contains(agents, landing.CheckName) {
		agents = append(agents, checksIn(space, name)...)
	}
	if force {
		agents = append(agents, earlier.Elsewhere...)
	}
	if len(agents) == 0 {
		return p, notPurged(name, earlier)
	}
	refs, err := turnRefs(ctx, p.m, name, agents)
	p.Turns = planTurns(name, agents, refs, force)
	return p, err
}
