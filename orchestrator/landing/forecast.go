package landing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
	"paw/worktree/states"
)

// Forecast says how the work of agents would merge with a branch and with each other's work. Making
// one changes nothing.
type Forecast struct {
	Session, Target string
	Agents          []observe.Forecast
	Pairs           []Pair   // agents whose work conflicts
	Order           []string // order in which paw land --all lands: next the agent that conflicts with none before it, and with the fewest of the rest
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
	return scope{pairs: true}.look(ctx, h, s, names, into, handed)
}

// LookAtLines is Look for the usual branch, and counts the lines that each landing would change. Only with
// pairs does it merge the agents' work with each other's.
func LookAtLines(ctx context.Context, h *app.App, s *session.Session, pairs bool) (*Forecast, error) {
	return scope{pairs: pairs, lines: true}.look(ctx, h, s, nil, "", nil)
}

// scope says what a forecast is to tell beside how each agent's work merges with the branch.
type scope struct{ pairs, lines bool }

func (of scope) look(ctx context.Context, h *app.App, s *session.Session, names []string, into string, handed map[string]Handed) (*Forecast, error) {
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
	m, done := m.Writing()
	defer done()
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
	first := work{asked: asked{Agent: h.Agent(s, &s.Agents[0]).In(m), command: "forecast", into: into}}
	branch, err := first.branchFor(ctx)
	if err != nil {
		return nil, err
	}
	t := target{branch: branch}
	if t.tip, err = tipOf(ctx, m, branch); err != nil {
		return nil, first.withBranchHere(ctx, err, branch)
	}
	if t.checkout, err = m.Registry().CheckoutOf(ctx, branch); err != nil { // nothing can land there now, and the error of a landing says why
		t.checkout = nil
	}
	f := &Forecast{Session: s.Name, Target: t.branch}
	if len(agents) > 0 {
		if f, err = of.foresee(ctx, m, s, agents, t); err != nil {
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
	slices.SortStableFunc(f.Agents, func(a, b observe.Forecast) int { return place(a) - place(b) })
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
			unknown = append(unknown, observe.Forecast{Agent: w.Name, CutShort: command, Unknown: "a " + command + " was cut short, paw recover ends it"})
			continue
		}
		agents = append(agents, work{asked: asked{Agent: h.Agent(s, w).In(m)}, handed: handed})
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
		return cmp.Or(worktree.Glance(ctx, a.Record.WorktreePath, a.Record.Branch, &gitdir.Refs{CommonDir: a.Session.GitCommonDir}).CutShort, "move of files"), nil
	}
	return "", err
}

func (of scope) foresee(ctx context.Context, m *worktree.Manager, s *session.Session, agents []work, t target) (*Forecast, error) {
	f := &Forecast{Session: s.Name, Target: t.branch}
	newest, err := newestStates(ctx, m, t, agents)
	if err != nil {
		return nil, err
	}
	var twins []string
	var known []work
	var unknown []observe.Forecast
	for i, w := range agents {
		one := observe.Forecast{Agent: w.Record.Name, Target: t.branch, Commit: newest[i].State, Turn: newest[i].Turn}
		if err := newest[i].Err; err != nil {
			one.Unknown = strings.TrimPrefix(err.Error(), w.Record.Name+": ")
			unknown = append(unknown, one)
			continue
		}
		one.LeftOut = w.badEnd(ctx)
		f.Agents, known, twins = append(f.Agents, one), append(known, w), append(twins, newest[i].Twin)
	}
	if agents = known; len(agents) == 0 {
		f.Agents = unknown
		return f, nil
	}
	ahead, err := m.States().Ahead(ctx, t.tip, twins...)
	if err != nil {
		return nil, err
	}
	var pairs [][2]string
	for _, twin := range twins {
		pairs = append(pairs, [2]string{t.tip, twin})
	}
	merged, err := mergeAll(ctx, m.States().Objects(), t.place(m), pairs)
	if err != nil {
		return nil, err
	}
	closer, err := lookCloser(ctx, t, agents, twins, ahead, merged)
	if err != nil {
		return nil, err
	}
	if err := f.count(ctx, m, t, merged); err != nil {
		return nil, err
	}
	if of.lines {
		if err := f.countLines(ctx, t, agents, closer, merged); err != nil {
			return nil, err
		}
	}
	if of.pairs {
		err = f.pair(ctx, m, t, twins, closer)
	}
	f.Order = order(f.Agents)
	f.Agents = append(f.Agents, unknown...)
	return f, err
}

// mergeAll merges pairs with one git process. Where two have no history in common it takes one for each,
// and those two do not conflict.
func mergeAll(ctx context.Context, o *objects.Store, place string, pairs [][2]string) ([]objects.Merged, error) {
	merged, err := o.MergePairs(ctx, place, pairs)
	if !errors.Is(err, objects.ErrUnrelated) {
		return merged, err
	}
	merged = nil
	for _, pair := range pairs {
		one, err := o.MergeTree(ctx, place, pair[0], pair[1])
		if err != nil && !errors.Is(err, objects.ErrUnrelated) {
			return nil, err
		}
		merged = append(merged, one)
	}
	return merged, nil
}

// lookCloser asks for single agents what a landing would ask, where git's merge alone does not say what lands, and sets their entries
// of merged. The result is nil for the others, and for a state without a commit in common with the branch.
func lookCloser(ctx context.Context, t target, agents []work, twins []string, ahead []states.Ahead, merged []objects.Merged) ([]*lands, error) {
	all, err := agents[0].landingsIn(t.branch)
	if err != nil {
		return nil, err
	}
	var commits []string
	for _, a := range ahead {
		for _, step := range a.Steps {
			if step.Commit != "" {
				commits = append(commits, step.Commit)
			}
		}
	}
	byHand, err := agents[0].Repo.States().In(ctx, commits, t.tip) // mostly the user has merged none
	if err != nil {
		return nil, err
	}
	closer := make([]*lands, len(agents))
	for i, w := range agents {
		a := ahead[i]
		if a.None() {
			continue
		}
		tree, err := w.Repo.Objects().TreeOf(ctx, t.tip)
		if err != nil {
			return nil, err
		}
		merges := slices.ContainsFunc(a.Steps, func(step states.Step) bool { return byHand[step.Commit] })
		landed := slices.ContainsFunc(all, func(one *Stand) bool { return a.Has(one.Twin) })
		if len(a.Left) == 0 && a.Root == "" && !landed && !merges && len(merged[i].Conflicts) == 0 && merged[i].Tree != tree {
			continue
		}
		switch l, err := w.landsOn(ctx, t, twins[i], false); {
		case errors.Is(err, objects.ErrUnrelated):
		case err != nil:
			return nil, err
		default:
			closer[i], merged[i] = l, l.Merged
		}
	}
	return closer, nil
}

// count adds to each agent the files that its merge with the target changes or conflicts in.
func (f *Forecast) count(ctx context.Context, m *worktree.Manager, t target, merged []objects.Merged) error {
	var changed [][2]string
	for _, one := range merged {
		changed = append(changed, [2]string{t.tip, one.Tree})
	}
	counts, err := m.Objects().Changes(ctx, changed)
	if err != nil {
		return err
	}
	for i, one := range merged {
		f.Agents[i].Files, f.Agents[i].Conflicts = counts[changed[i]].Files, one.Conflicts
		f.Agents[i].Told = one.Told()
		if t.checkout != nil {
			f.Agents[i].Submodules = counts[changed[i]].Submodules
		}
	}
	return nil
}

// countLines adds to each agent with something to land the lines that this would change. Where it
// conflicts those are the lines of its work, as paw diff shows it.
func (f *Forecast) countLines(ctx context.Context, t target, agents []work, closer []*lands, merged []objects.Merged) error {
	var changed [][2]string
	for i, w := range agents {
		pair := [2]string{t.tip, merged[i].Tree}
		if len(merged[i].Conflicts) > 0 {
			base, err := w.common(ctx, closer[i])
			if err != nil {
				return err
			}
			pair = [2]string{base, closer[i].State}
		}
		changed = append(changed, pair)
	}
	counts, err := agents[0].Repo.Objects().Lines(ctx, changed)
	for i := range counts {
		if f.Agents[i].Lands() {
			f.Agents[i].Lines = &counts[i]
		}
	}
	return err
}

// pair adds the conflicts between agents.
func (f *Forecast) pair(ctx context.Context, m *worktree.Manager, t target, twins []string, closer []*lands) (err error) {
	for i, l := range closer {
		if l != nil && len(l.Gone) > 0 && len(l.Conflicts) == 0 { // without what the branch has left
			if twins[i], err = m.Objects().Commit(ctx, objects.NewCommit{Tree: l.Tree, Parents: []string{t.tip}, Message: "paw: landed\n", Own: true}); err != nil {
				return err
			}
		}
	}
	var pairs [][2]string
	var of [][2]*observe.Forecast
	for i := range twins {
		for k := i + 1; k < len(twins); k++ {
			if one, other := &f.Agents[i], &f.Agents[k]; one.Lands() && other.Lands() {
				pairs, of = append(pairs, [2]string{twins[i], twins[k]}), append(of, [2]*observe.Forecast{one, other})
			}
		}
	}
	merged, err := mergeAll(ctx, m.States().Objects(), t.place(m), pairs)
	for i := range merged {
		if one, other := of[i][0], of[i][1]; len(merged[i].Conflicts) > 0 {
			f.Pairs = append(f.Pairs, Pair{One: one.Agent, Other: other.Agent, Files: merged[i].Conflicts})
			one.Others, other.Others = append(one.Others, other.Agent), append(other.Others, one.Agent)
		}
	}
	return err
}

// order returns the agents in the order of fewest conflicts. Next comes an agent that conflicts with none before it, and with
// the fewest of the rest; of several, the one with fewer files, then the older one. Agents are
// left out that have nothing to land, conflict with the target, or whose last turn did not end well.
func order(agents []observe.Forecast) []string {
	rest := slices.DeleteFunc(slices.Clone(agents), func(o observe.Forecast) bool {
		return !o.Lands() || len(o.Conflicts) > 0 || o.LeftOut != ""
	})
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
		late := func(o observe.Forecast) (n int) {
			if slices.ContainsFunc(o.Others, func(other string) bool { return slices.Contains(names, other) }) {
				n = 1
			}
			return n
		}
		best := slices.MinFunc(rest, func(a, b observe.Forecast) int {
			return cmp.Or(late(a)-late(b), collisions(a)-collisions(b), a.Files-b.Files)
		})
		names = append(names, best.Agent)
		rest = slices.DeleteFunc(rest, func(o observe.Forecast) bool { return o.Agent == best.Agent })
	}
	return names
}
