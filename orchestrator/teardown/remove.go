package teardown

import (
	"context"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// Removal is the plan for removing some agents of a session. Their branches stay, except those that
// have landed.
type Removal struct {
	Agents   []Agent
	Branches []Branch

	m worktree.Manager
}

// PlanRemoval plans the removal of agents. It refuses all of them when one cannot be removed.
func PlanRemoval(ctx context.Context, h *app.App, s *session.Session, names []string, o Options) (Removal, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return Removal{}, err
	}
	m = m.Remembering()
	r := Removal{m: m}
	f, err := atRest(ctx, h, s, names, o.Force)
	if err != nil {
		return r, err
	}
	var leaving []worktree.Plan
	var agents []session.Agent
	for _, found := range lookAtAgents(ctx, h, m, f, names, o) {
		p, err := planAgent(found, o)
		if err != nil {
			return r, err
		}
		p.Words = h.Texts().Words(s.Name, p.Name)
		r.Agents = append(r.Agents, p)
		leaving, agents = append(leaving, p.worktree), append(agents, found.agent.Record)
	}
	r.Branches = planLanded(lookAtLandings(ctx, m, s.Name, agents, leaving))
	return r, nil
}

// String describes the plan, line by line.
func (r Removal) String() string {
	var lines []string
	for i, p := range r.Agents {
		lines = append(append(lines, p.lines()...), r.Branches[i].line())
	}
	return strings.Join(lines, "\n")
}

// Apply removes the agent with index i.
func (r Removal) Apply(ctx context.Context, h *app.App, i int) (*Removed, error) {
	p := r.Agents[i]
	if s, err := h.Load(p.Session); err == nil {
		turns.CloseDead(ctx, h, s, p.Name)
	}
	rec, err := record(ctx, h, p.Session, p)
	if err != nil {
		return nil, err
	}
	h.Step("remove.recorded")
	return p.carryOut(ctx, h, r.m, rec, r.Branches[i:i+1])
}

// atRest refuses to end agents in the middle of a turn, unless force is set, and agents whose state
// is unknown. It returns the facts by which it decided.
func atRest(ctx context.Context, h *app.App, s *session.Session, names []string, force bool) (observe.Facts, error) {
	if !force {
		return observe.RefuseBusy(ctx, h, s, names...)
	}
	f, err := observe.Revived(ctx, h, s)
	if err != nil {
		return f, err
	}
	return f, observe.RefuseSilent(f, names)
}
