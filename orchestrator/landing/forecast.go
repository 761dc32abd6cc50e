package landing

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree"
	"paw/worktree/objects"
)

// Forecast says how the work of agents would merge with a branch and with each other's work. Making
// one changes nothing.
type Forecast struct {
	Session, Target string
	Agents          []observe.Forecast
	Pairs           []Pair   // agents whose work conflicts
	Order           []string // order to land in: next the agent that conflicts with the fewest of the rest
}

// Pair is two agents whose work conflicts in these files.
type Pair struct {
	One, Other string
	Files      []string
}

// Collides reports whether there is any conflict.
func (f *Forecast) Collides() bool {
	return len(f.Pairs) > 0 || slices.ContainsFunc(f.Agents, func(o observe.Forecast) bool { return len(o.Conflicts) > 0 })
}

// Look makes the forecast for the named agents, or for all agents of a session. It considers the
// end of an agent's last turn, or its branch if that has moved since. One git process does all
// merges. handed are the states of the agents of another machine, by name.
func Look(ctx context.Context, h *app.App, s *session.Session, names []string, into string, handed map[string]Handed) (*Forecast, error) {
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	m, drop, err := m.Remembering().WithScratch()
	if err != nil {
		return nil, err
	}
	defer drop()
	if err := app.RequireAgents(s, names...); err != nil {
		return nil, err
	}
	agents, unknown, err := foreseen(ctx, h, m, s, names, handed)
	if err != nil {
		return nil, err
	}
	if len(agents)+len(unknown) == 0 {
		return nil, errs.New(errs.NotFound, "%s: has no agents", s.Name)
	}
	first := work{Agent: h.Agent(s, &s.Agents[0]).In(m)}
	line := func(branch string) string {
		return "paw forecast --session " + s.Name + " --into " + errs.Quote(branch)
	}
	branch, err := first.branchFor(into, line)
	if err != nil {
		return nil, err
	}
	t := target{branch: branch, usual: s.Target}
	if t.tip, err = tipOf(ctx, m, branch); err != nil {
		return nil, first.withBranchHere(err, branch, line)
	}
	if t.checkout, err = m.Registry().CheckoutOf(ctx, branch); err != nil { // nothing can land there now, and the error of a landing says why
		t.checkout = nil
	}
	f := &Forecast{Session: s.Name, Target: t.branch}
	if len(agents) > 0 {
		if f, err = look(ctx, h, m, s, agents, t); err != nil {
			return nil, err
		}
	}
	for _, o := range unknown {
		o.Target = t.branch
		f.Agents = append(f.Agents, o)
	}
	place := func(o observe.Forecast) int {
		return slices.IndexFunc(s.Agents, func(w session.Agent) bool { return w.Name == o.Agent })
	}
	slices.SortFunc(f.Agents, func(a, b observe.Forecast) int { return place(a) - place(b) })
	return f, nil
}

// foreseen returns the named agents, or all of a session, whose work is known; unknown has those
// whose worktree is half moved.
func foreseen(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, names []string, handed map[string]Handed) (agents []work, unknown []observe.Forecast, err error) {
	for i := range s.Agents {
		w := &s.Agents[i]
		if len(names) > 0 && !slices.Contains(names, w.Name) {
			continue
		}
		command, err := cutShort(ctx, h.Agent(s, w))
		if err != nil {
			return nil, nil, err
		}
		if command != "" {
			unknown = append(unknown, observe.Forecast{Agent: w.Name, CutShort: command})
			continue
		}
		agents = append(agents, work{Agent: h.Agent(s, w).In(m), handed: handed})
	}
	return agents, unknown, nil
}

// cutShort returns the command that was killed while it moved the files of an agent, "" for none.
func cutShort(ctx context.Context, a app.Agent) (string, error) {
	if a.Session.Host != "" {
		return "", nil
	}
	err := observe.RefuseHalfMoved(ctx, a.App, a.Session, a.Record.Name)
	if refused, ok := errors.AsType[*errs.Error](err); ok && refused.Kind == errs.Refused {
		return cmp.Or(worktree.Glance(a.Record.WorktreePath, a.Record.Branch).CutShort, "move of files"), nil
	}
	return "", err
}

func look(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, agents []work, t target) (*Forecast, error) {
	f := &Forecast{Session: s.Name, Target: t.branch}
	sessions, err := agents[0].siblings(ctx)
	if err != nil {
		return nil, err
	}
	states, err := newestStates(ctx, m, agents)
	if err != nil {
		return nil, err
	}
	both, err := sidesOf(ctx, newLedger(m, sessions, t), agents, states)
	if err != nil {
		return nil, err
	}
	for i, w := range agents {
		f.Agents = append(f.Agents, observe.Forecast{Agent: w.Record.Name, Target: t.branch, Commit: states[i].commit, Turn: states[i].turn})
	}
	pairs, err := merges(ctx, agents, both)
	if err != nil {
		return nil, err
	}
	merged, err := m.Objects().MergePairs(ctx, t.place(m), pairs)
	if err != nil {
		return nil, err
	}
	if err := f.count(ctx, m, t, states, merged); err != nil {
		return nil, err
	}
	f.pair(merged[len(agents):])
	f.Order = order(f.Agents)
	return f, nil
}

// merges returns what git merges for a forecast: each agent with the target, then each agent with
// each later one.
func merges(ctx context.Context, agents []work, both []*sides) (pairs [][2]string, err error) {
	var whole []string
	for i, w := range agents {
		own, err := w.afterHanded(ctx, both[i].state)
		if err != nil {
			return nil, err
		}
		pairs, whole = append(pairs, [2]string{both[i].ours, both[i].theirs}), append(whole, own)
	}
	for i := range whole {
		for k := i + 1; k < len(whole); k++ {
			pairs = append(pairs, [2]string{whole[i], whole[k]})
		}
	}
	return pairs, nil
}

// count adds to each agent the files that its merge with the target changes or conflicts in.
func (f *Forecast) count(ctx context.Context, m *worktree.Manager, t target, states []known, merged []objects.Merged) error {
	var changed [][2]string
	for i := range states {
		changed = append(changed, [2]string{t.tip, merged[i].Tree})
	}
	for _, one := range states {
		changed = append(changed, [2]string{cmp.Or(one.left, one.commit), one.commit})
	}
	counts, err := m.Objects().Changes(ctx, changed)
	if err != nil {
		return err
	}
	for i := range states {
		f.Agents[i].Files, f.Agents[i].Conflicts = counts[changed[i]].Files, merged[i].Conflicts
		if t.checkout != nil {
			f.Agents[i].Submodules = counts[changed[i]].Submodules
		}
		if counts[changed[len(states)+i]].Files > 0 { // 0 files if everything was committed since
			f.Agents[i].UncommittedSince = states[i].leftAt
		}
	}
	return nil
}

// pair adds the conflicts between agents. merged are the merges of each agent with each later one.
func (f *Forecast) pair(merged []objects.Merged) {
	for i := range f.Agents {
		for k := i + 1; k < len(f.Agents); k++ {
			one, other := &f.Agents[i], &f.Agents[k]
			if files := merged[0].Conflicts; len(files) > 0 && one.Lands() && other.Lands() {
				f.Pairs = append(f.Pairs, Pair{One: one.Agent, Other: other.Agent, Files: files})
				one.Others, other.Others = append(one.Others, other.Agent), append(other.Others, one.Agent)
			}
			merged = merged[1:]
		}
	}
}

// sidesOf finds what a branch and the newest states of agents have in common. It reads git's
// history once for all agents.
func sidesOf(ctx context.Context, led *ledger, agents []work, states []known) (all []*sides, err error) {
	var askers []*asker
	var looked []state
	for i, w := range agents {
		a, one := newAsker(w, led, false), state{commit: states[i].commit}
		if err := a.lookForHanded(ctx); err != nil {
			return nil, err
		}
		if states[i].whole { // the branch lacks work that has landed uncommitted
			one = a.at(states[i].commit, states[i].turn)
		}
		askers, looked = append(askers, a), append(looked, one)
	}
	led.base, led.also = agents[0].Record.BaseCommit, func() (commits []string) {
		for i, a := range askers {
			commits = append(commits, a.needs(ctx, looked[i])...)
		}
		return commits
	}
	if err := led.look(ctx); err != nil {
		return nil, err
	}
	for i, a := range askers {
		one, err := a.sides(ctx, looked[i])
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// order returns the agents in the order of fewest conflicts. Next comes the agent that conflicts
// with the fewest of the rest; of several, the one with fewer files, then the older one. Agents
// that conflict with the target come last. Agents with nothing to land are left out.
func order(agents []observe.Forecast) []string {
	rest := slices.DeleteFunc(slices.Clone(agents), func(o observe.Forecast) bool { return !o.Lands() })
	var names []string
	for len(rest) > 0 {
		collisions := func(o observe.Forecast) (n int) {
			for _, other := range rest {
				if slices.Contains(o.Others, other.Agent) {
					n++
				}
			}
			return n
		}
		best := slices.MinFunc(rest, func(a, b observe.Forecast) int {
			return cmp.Or(min(len(a.Conflicts), 1)-min(len(b.Conflicts), 1), collisions(a)-collisions(b), a.Files-b.Files)
		})
		names = append(names, best.Agent)
		rest = slices.DeleteFunc(rest, func(o observe.Forecast) bool { return o.Agent == best.Agent })
	}
	return names
}
