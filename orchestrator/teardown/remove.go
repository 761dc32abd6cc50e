package teardown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/git"
)

// Removal is the plan for removing some agents of a session. Their branches stay, except those that
// have landed.
type Removal struct {
	Agents   []Agent
	Branches []Branch

	m *worktree.Manager
}

// PlanRemoval plans the removal of agents. It refuses all of them when one cannot be removed.
func PlanRemoval(ctx context.Context, h *app.App, s *session.Session, names []string, o Options) (Removal, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return Removal{}, err
	}
	m = m.Remembering()
	if o.DryRun {
		var drop func()
		if m, drop, err = m.WithScratch(); err != nil {
			return Removal{}, err
		}
		defer drop()
	}
	r := Removal{m: m}
	for _, name := range names {
		if err := observe.RefuseHalfMoved(ctx, h, s, name); err != nil {
			return r, err
		}
	}
	f, err := atRest(ctx, h, s, names, o.Force)
	if err != nil {
		return r, err
	}
	for _, found := range lookAtAgents(ctx, h, m, f, names, o) {
		p, err := found.planned(o)
		if err != nil {
			return r, err
		}
		p.Words = h.Texts().Words(s.Name, p.Name)
		r.Agents = append(r.Agents, p)
	}
	r.Branches = planLanded(ctx, m, s.Name, r.Agents)
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

// atRest refuses to end agents in the middle of a turn, unless force is set, agents whose state is unknown, and the one whose CLI
// has started this paw: paw would end with it before anything is removed. It returns the facts by which it decided.
func atRest(ctx context.Context, h *app.App, s *session.Session, names []string, force bool) (observe.Facts, error) {
	if in, agent, _, ok := observe.ParseLaunch(h.Getenv("PAW_LAUNCH")); ok && in == s.Name && slices.Contains(names, agent) && !h.DryRun {
		return observe.Facts{}, errs.New(errs.Refused, "%s: this paw runs in its CLI, and would end with it; type that elsewhere", agent).Hint("paw stop %s/%s", s.Name, agent)
	}
	if !force {
		return observe.RefuseBusy(ctx, h, s, names...)
	}
	f, err := observe.Revived(ctx, h, s)
	if err != nil {
		return f, err
	}
	return f, cmp.Or(observe.RefuseElsewhere(f, names), observe.RefuseMade(f, names), observe.RefuseSilent(f, names))
}

// Removed tells what removing an agent did, and how to get it back.
type Removed struct {
	Agent
	RescueRef  string // ref with the uncommitted work, with --force
	Rescue     string // refs with commits that only the worktree's git directory kept
	Trash      string // folder in the trash that was kept: with --force, or because of Aside
	WordsDir   string // folder with text of the user that the agent never got
	Landed     bool   // the branch was deleted too: all of the branch has landed
	BranchGone bool   // the branch had already been deleted
}

// Kept says where the kept work is, with the commands that bring it back or delete it.
func (r *Removed) Kept() []string {
	var lines []string
	if r.RescueRef != "" {
		git := "git -C " + errs.Quote(r.repository)
		lines = append(lines, "its files are in the commit "+r.RescueRef,
			"  back: "+errs.Line("%s worktree add --detach %s %s", git, errs.Quote(r.WorktreePath), r.RescueRef),
			"  drop: "+errs.Line("%s update-ref -d %s", git, r.RescueRef))
	}
	if r.Rescue != "" {
		lines = append(lines, "what only its git directory led to is kept in "+r.Rescue)
	}
	if r.WordsDir != "" {
		lines = append(lines, "what you wrote for it and it never got is kept in "+r.WordsDir, "  drop: "+errs.Line("rm -rf %s", errs.Quote(r.WordsDir)))
	}
	switch {
	case r.Trash == "":
		return lines
	case len(r.Aside) > 0:
		lines = append(lines, fmt.Sprintf("its directory is kept in %s, because of what git does not have: %s", r.Trash, strings.Join(r.Aside, ", ")))
	default:
		lines = append(lines, "its directory is kept in "+r.Trash)
	}
	return append(lines, "  drop: "+errs.Line("rm -rf %s", errs.Quote(filepath.Dir(r.Trash))))
}

// record records the removal of agents and its kind, and returns the record.
func record(ctx context.Context, h *app.App, sessionName string, agents ...Agent) (*session.Session, error) {
	return h.Update(ctx, sessionName, func(rec *session.Session) error {
		for _, p := range agents {
			w, err := app.AgentNamed(rec, p.Name)
			if err != nil {
				return err
			}
			if err := launch.RefuseMade(h, sessionName, p.Name); err != nil { // by a recover or a paw setup that began since the plan
				return err
			}
			w.Phase = p.intent
		}
		return nil
	})
}

// carryOut removes an agent whose removal is recorded: its worktree, its branch if the plan says
// so, and last its entry in the record.
func (p Agent) carryOut(ctx context.Context, h *app.App, m *worktree.Manager, rec *session.Session, branches []Branch) (*Removed, error) {
	removed, err := p.apply(ctx, h, m, rec, observe.Facts{})
	if err != nil {
		return removed, err
	}
	deleted, _ := deleteBranches(ctx, m, branches)
	removed.Landed = slices.Contains(deleted, p.Branch)
	removed.BranchGone = slices.ContainsFunc(branches, func(b Branch) bool { return b.Name == p.Branch && b.Gone })
	h.Step("remove.branch-gone")
	return removed, dropAgents(ctx, h, p.Session, p.Name)
}

// apply ends an agent whose removal is recorded, and takes its worktree away; its entry in the
// record stays. Where the facts seen show that the agent had ended, it is not ended again. apply
// may be repeated after a crash at any point, and by another paw, which waits until this one is
// done.
func (p Agent) apply(ctx context.Context, h *app.App, m *worktree.Manager, rec *session.Session, seen observe.Facts) (*Removed, error) {
	removed := &Removed{Agent: p}
	h.Step("remove.waits")
	unlock, err := h.Hold(ctx, h.Locks.Removal, p.Session, p.Name)
	if err != nil {
		return removed, err
	}
	defer unlock()
	if err := p.end(ctx, h, rec, seen); err != nil {
		return removed, err
	}
	h.Step("remove.agent-ended")
	turns.Cut(ctx, h.Agent(rec, rec.Agent(p.Name)), turn.ReasonStopped)
	if p.intent == session.PhaseLeaving {
		if err := m.Release(ctx, p.plan); err != nil {
			return removed, err
		}
	} else if err := p.tearDown(ctx, h, m, rec); err != nil {
		return removed, errors.Join(err, giveUp(context.WithoutCancel(ctx), h, p))
	} else if err := p.clear(ctx, h, m, removed); err != nil {
		return removed, errors.Join(p.notRemoved(err), giveUp(ctx, h, p))
	}
	h.Step("remove.worktree-gone")
	if removed.WordsDir, err = h.Texts().SetWordsAside(p.Session, p.Name); err != nil {
		return removed, err
	}
	return removed, h.ForgetWorktree(p.Session, p.Name)
}

// tearDown runs the project's teardown command in the worktree, after a check that the worktree may
// go: the CLI may have written files until it ended.
func (p *Agent) tearDown(ctx context.Context, h *app.App, m *worktree.Manager, rec *session.Session) error {
	switch {
	case p.tornDown:
		return nil
	case p.Teardown.Command == "":
		return h.Agent(rec, rec.Agent(p.Name)).In(m).TearDown(ctx, p.Teardown) // only notes a command that is not trusted
	}
	if there, err := m.Removable(ctx, p.plan); err != nil || !there {
		return p.notRemoved(err)
	}
	if p.intent == session.PhaseRemoving && !p.torn {
		if err := p.refuseUnclean(m.See(ctx, p.plan)); err != nil {
			return err
		}
	}
	if err := h.Agent(rec, rec.Agent(p.Name)).In(m).TearDown(ctx, p.Teardown); err != nil {
		return errs.WithHints(err, "paw sh "+p.Session+"/"+p.Name, "paw remove "+p.Session+"/"+p.Name+" --no-teardown")
	}
	p.torn, p.tornDown = true, true
	return nil
}

// end ends the agent, unless the facts seen show that it had ended, and it has not been launched
// since.
func (p Agent) end(ctx context.Context, h *app.App, s *session.Session, seen observe.Facts) error {
	lock, err := h.Locks.ProbeAgent(s.Name, p.Name)
	if a := seen.Agent(p.Name); a != nil && a.Pane == nil && a.Lock.State == session.LockFree && seen.Tmux != session.TmuxUnknown && err == nil && lock.State == session.LockFree {
		return nil
	}
	f, err := observe.Revived(ctx, h, s)
	if err != nil {
		return err
	}
	if f.Tmux == session.TmuxUnknown {
		return observe.Unanswered(s, f.TmuxErr)
	}
	_, err = launch.EndAgents(ctx, h, s, f, func(agent string) bool { return agent == p.Name })
	return err
}

// clear takes the worktree away after the CLI has ended: package worktree checks again, and refuses
// if files have changed.
func (p Agent) clear(ctx context.Context, h *app.App, m *worktree.Manager, removed *Removed) (err error) {
	var done worktree.Removal
	defer func() { removed.Trash, removed.Aside, removed.Rescue = done.Trash, done.Aside, done.Rescue }()
	saves := p.clean || p.torn // files that appeared since in a clean worktree are saved, too
	if saves || p.intent != session.PhaseDiscarding {
		done, err = m.Remove(ctx, p.plan, p.seen)
		var changed *git.ConflictError
		if !saves || !errors.As(err, &changed) {
			return err
		}
	}
	if p.Save || saves {
		if there, err := m.Removable(ctx, p.plan); err != nil || !there { // another paw may have removed the worktree since the plan
			return err
		}
		ref := turn.RescueRef(p.TurnSession, h.Now())
		snapshot, err := m.Snapshots().Take(ctx, p.WorktreePath, ref, "paw: "+p.Name+" before its worktree was removed")
		if err != nil {
			return errs.New(errs.Refused, "%s: not removed, its work could not be saved: %w", p.Name, err)
		}
		removed.RescueRef = snapshot.Ref
		h.Step("remove.rescued")
	}
	done, err = m.RemoveKept(ctx, p.plan)
	return err
}

// giveUp records that agents stay after all, as stopped.
func giveUp(ctx context.Context, h *app.App, agents ...Agent) error {
	var failed []error
	for _, p := range agents {
		failed = append(failed, h.UpdateAgent(ctx, p.Session, p.Name, func(w *session.Agent) { w.Phase = session.PhaseStopped }))
	}
	return errors.Join(failed...)
}

// dropAgents removes entries of agents from the record. After a loss of power the record may have
// them again, and their removal is resumed.
func dropAgents(ctx context.Context, h *app.App, sessionName string, names ...string) error {
	_, err := h.UpdateSoon(ctx, sessionName, func(rec *session.Session) error {
		for _, name := range names {
			launch.DropAgent(rec, name)
		}
		return nil
	})
	h.Step("remove.finished")
	return err
}

// Resume finishes an interrupted removal, as recorded.
func Resume(ctx context.Context, h *app.App, s *session.Session, name string) (*Removed, error) {
	m, p, err := cutShort(ctx, h, s, name)
	if err != nil {
		return &Removed{}, err
	}
	return p.carryOut(ctx, h, m, s, planLanded(ctx, m, s.Name, []Agent{p}))
}

// Refusal returns the error with which Resume would refuse, nil if it would finish the removal.
func Refusal(ctx context.Context, h *app.App, s *session.Session, name string) error {
	m, p, err := cutShort(ctx, h, s, name)
	if err != nil || p.intent == session.PhaseLeaving {
		return err
	}
	if there, err := m.Removable(ctx, p.plan); err != nil || !there {
		return p.notRemoved(err)
	}
	if p.intent != session.PhaseRemoving || p.torn || !p.looked() {
		return nil
	}
	seen, err := m.See(ctx, p.plan)
	switch {
	case p.Teardown.Command != "":
		return p.refuseUnclean(seen, err)
	case err != nil:
		return p.notRemoved(err)
	}
	return p.notRemoved(seen.Refusal(p.plan))
}

// cutShort plans to finish an interrupted removal.
func cutShort(ctx context.Context, h *app.App, s *session.Session, name string) (*worktree.Manager, Agent, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, Agent{}, err
	}
	p := agentOf(h, observe.Facts{Session: s}, name, Options{})
	if p.Phase != session.PhaseLeaving {
		p.plan.Saved = landing.Safe(ctx, m, s, &p.Agent)
	}
	p.inspect(ctx, m, s)
	return m, p.removal(p.Phase), nil
}
