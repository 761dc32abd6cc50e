package teardown

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Purge is the plan for ending a session for good.
type Purge struct {
	Session  *session.Session // nil for turns of a session without a record
	Name     string
	Gone     string   // path of a repository that does not exist any more: only the record can be deleted
	Stay     []string // worktrees that stay because the repository is gone
	Landings []string // interrupted landings, which are finished first
	Agents   []Agent
	Branches []Branch
	Checks   string       // worktree in which checks ran, "" for none
	Teardown app.Teardown // runs in the worktree of checks before that is removed
	Turns    []Turns
	Taken    []landing.Stand // landings that no branch has any more, of agents that were removed: a rescue ref keeps each
	Others   []string        // tmux windows of the user that stay

	options Options
	m       *worktree.Manager
}

// planned plans the purge of what was found. It refuses the whole purge when one agent cannot be
// removed.
func (p Purge) planned(f observe.Facts) (Purge, error) {
	stop, err := planStop(f, StopOptions{})
	if err != nil {
		return p, err
	}
	p.Others = stop.Others
	var refusals []error
	for i, found := range p.Agents {
		if p.Agents[i], err = found.planned(p.options); err != nil {
			refusals = append(refusals, err)
		}
		p.Agents[i].Children = nil // the purge removes all children too
	}
	if len(refusals) > 0 {
		return p, refusedPurge(p.Name, refusals, p.options)
	}
	p.Branches = planBranches(p.Branches)
	return p, nil
}

// refusedPurge joins the refusals of all agents into one, with the first hint of each.
func refusedPurge(name string, refusals []error, o Options) error {
	if len(refusals) == 1 {
		return refusals[0]
	}
	var said, hints []string
	for _, one := range refusals {
		said = append(said, one.Error())
		if first := errs.HintsOf(one); len(first) > 0 {
			hints = append(hints, first[0])
		}
	}
	if !o.Force {
		hints = append(hints, "paw purge "+name+" --force")
	}
	return errs.WithHints(errs.New(errs.Refused, "%s", strings.Join(said, "; ")), hints...)
}

// Dropped counts the deleted tags and refs, "" for none. Refs of landings may be all that kept the
// single commits of work that landed as one commit.
func (p Purge) Dropped() string {
	tags, refs, landings := 0, 0, 0
	for _, t := range p.Turns {
		tags, refs = tags+len(t.Tags), refs+t.Hidden
		for ref := range t.doomed {
			if _, _, side, ok := turn.ParseLanded(ref); ok && side == "after" {
				landings++
			}
		}
	}
	if !p.options.Tags || tags+refs == 0 {
		return ""
	}
	said := fmt.Sprintf("deleted %s and %s under refs/paw", errs.Counted(tags, "turn tag"), errs.Counted(refs, "ref"))
	if landings > 0 {
		said += fmt.Sprintf(", those of %s too: the single commits of what landed as one are kept by nothing now", errs.Counted(landings, "landing"))
	}
	return said
}

// String describes the plan, line by line.
func (p Purge) String() string {
	var lines []string
	for _, landing := range p.Landings {
		lines = append(lines, "finish "+landing+", which was cut short")
	}
	for _, agent := range p.Agents {
		lines = append(lines, agent.lines()...)
	}
	for _, dir := range p.Stay {
		lines = append(lines, "keep "+dir+": without the repository nobody can say what would be lost with it")
	}
	for _, branch := range p.Branches {
		lines = append(lines, branch.line())
	}
	if p.Checks != "" {
		if line := p.Teardown.Line(checks.Name); line != "" {
			lines = append(lines, line)
		}
		lines = append(lines, "delete the place where checks ran, "+p.Checks+"; what git does not have goes to the trash folder")
	}
	does := "keep"
	if p.options.Tags {
		does = "delete"
	}
	for _, t := range p.Turns {
		lines = append(lines, t.lines(does)...)
	}
	for _, one := range p.Taken {
		lines = append(lines, fmt.Sprintf("keep what landing %d of %s brought, %.12s: no branch has it any more", one.ID, one.Agent, one.After))
	}
	if p.Session != nil {
		lines = append(lines, "delete the record of "+p.Name)
	}
	if p.options.Tags {
		lines = append(lines, "delete the logs of its turns")
	}
	for _, window := range p.Others {
		lines = append(lines, window+" is yours and stays")
	}
	return strings.Join(lines, "\n")
}

// Purged tells what a purge did.
type Purged struct {
	Purge
	Removed []string          // removed agents
	Deleted []string          // deleted branches
	Kept    map[string]string // branches that stay, with the reason
	Rescues []string          // refs with rescued work, which stay
	Aside   []Removed         // agents of which something is kept
}

// PlanPurge looks at a session and plans the purge.
func PlanPurge(ctx context.Context, h *app.App, s *session.Session, o Options) (Purge, error) {
	m, err := h.ManagerOf(ctx, s)
	gone := errors.Is(err, app.ErrGone)
	if err != nil && !gone {
		return Purge{}, err
	}
	f, err := atRest(ctx, h, s, app.AgentNames(s), o.Force)
	if err != nil {
		return Purge{}, err
	}
	if o.DryRun && !gone {
		var drop func()
		if m, drop, err = m.WithScratch(); err != nil {
			return Purge{}, err
		}
		defer drop()
	}
	p := Purge{Session: s, Name: s.Name, Teardown: h.Teardown(o.NoTeardown), options: o, m: m}
	if gone {
		p.Gone = s.RepoPath
		for _, w := range s.Agents {
			if disk.Exists(w.WorktreePath) {
				p.Stay = append(p.Stay, w.WorktreePath)
			}
		}
	} else if err := p.look(ctx, h, f); err != nil {
		return Purge{}, err
	}
	return p.planned(f)
}

// look looks at all that the purge takes away.
func (p *Purge) look(ctx context.Context, h *app.App, f observe.Facts) error {
	s := p.Session
	withTurns, err := agentsWithTurns(ctx, h, p.m, s)
	if err != nil {
		return err
	}
	refs, err := turnRefs(ctx, p.m, s.Name, withTurns)
	if err != nil {
		return err
	}
	p.Agents = lookAtAgents(ctx, h, p.m, f, app.AgentNames(s), p.options)
	for i := range p.Agents {
		p.Agents[i].Words = h.Texts().Words(s.Name, p.Agents[i].Name)
	}
	p.Landings = landing.CutShort(ctx, h, s)
	p.Branches = lookAtBranches(ctx, p.m, s.Name, slices.Concat(s.Agents, removedBefore(h, s, withTurns)), plansOf(p.Agents))
	p.Turns = planTurns(s.Name, withTurns, refs, emptyRescues(ctx, p.m, refs, planBranches(p.Branches)), p.options.Force)
	if p.options.Tags && !p.options.Force {
		if p.Taken, err = takenBack(ctx, h, p.m, s); err != nil {
			return err
		}
	}
	p.Checks, err = checks.PlaceOf(ctx, p.m, s)
	return err
}

// takenBack returns the landings that no branch has any more, of agents that were removed: as long as an agent is there, so is its
// work.
func takenBack(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session) (some []landing.Stand, err error) {
	all, err := landing.Standings(ctx, h, s)
	var commits []string
	later := map[string]bool{} // turn sessions with a later landing that stands
	for _, one := range slices.Backward(all) {
		gone := one.Standing == landing.Undone || one.Standing == landing.NotIn || one.Standing == landing.Gone
		later[one.TurnSession] = later[one.TurnSession] || !gone
		if !later[one.TurnSession] && one.Without == 0 && s.Agent(one.Agent) == nil && m.Objects().Has(ctx, one.After) {
			some, commits = append(some, one), append(commits, one.After)
		}
	}
	if err != nil {
		return nil, err
	}
	alone, err := m.Refs().OnNoBranch(ctx, commits, nil)
	return slices.DeleteFunc(some, func(one landing.Stand) bool { return !slices.Contains(alone, one.After) }), err
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
	if len(agents) > 0 && !slices.Contains(agents, checks.Name) {
		agents = append(agents, checksIn(space, name)...)
	}
	if force {
		agents = append(agents, earlier.Elsewhere...)
	}
	if len(agents) == 0 {
		return p, notPurged(name, earlier)
	}
	refs, err := turnRefs(ctx, p.m, name, agents)
	p.Turns = planTurns(name, agents, refs, emptyRescues(ctx, p.m, refs, nil), force)
	return p, err
}
