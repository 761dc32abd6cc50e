package landing

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Forecast says how the work of agents goes together with a branch, and with each other's. Nothing is changed for it.
type Forecast struct {
	Session, Target string
	Agents          []Outlook
	Pairs           []Pair   // of agents whose work collides
	Order           []string // in which to land: next the one that collides with the fewest of the rest
}

// Outlook is how the work of one agent would land.
type Outlook struct {
	Agent     string
	Commit    string   // its state
	Turn      int      // that is the end of this turn, 0 for its branch
	Files     int      // that would change in the target
	Conflicts []string // with the target
}

// lands reports whether there is anything to land.
func (o Outlook) lands() bool { return o.Files > 0 || len(o.Conflicts) > 0 }

// Pair are two agents whose work collides in these files.
type Pair struct {
	One, Other string
	Files      []string
}

// Collides reports whether anything does.
func (f *Forecast) Collides() bool {
	return len(f.Pairs) > 0 || slices.ContainsFunc(f.Agents, func(o Outlook) bool { return len(o.Conflicts) > 0 })
}

// Look forecasts for the agents named, or for all of a session, as of the ends of their last turns and what they have
// committed since. One git process does all the merges.
func Look(ctx context.Context, h *home.Home, s *session.Session, names []string, into string) (*Forecast, error) {
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	repository, err := h.RepositoryOf(ctx, s)
	if err != nil {
		return nil, err
	}
	m, drop, err := h.Manager(repository).WithScratch()
	if err != nil {
		return nil, err
	}
	defer drop()
	var agents []*session.Worktree
	for i := range s.Worktrees {
		if len(names) == 0 || slices.Contains(names, s.Worktrees[i].Agent) {
			agents = append(agents, &s.Worktrees[i])
		}
	}
	for _, name := range names {
		if _, err := home.AgentNamed(s, name); err != nil {
			return nil, err
		}
	}
	if len(agents) == 0 {
		return nil, fault.New(fault.NotFound, "%s: has no agents", s.Name)
	}
	branch, err := branchFor(s, agents[0], into)
	if err != nil {
		return nil, err
	}
	t := target{branch: branch}
	if t.tip, err = tipOf(ctx, m, branch); err != nil {
		return nil, err
	}
	if t.checkout, err = m.CheckoutOf(ctx, branch); err != nil { // nothing lands there now, and that says why
		t.checkout = nil
	}
	return look(ctx, m, s, agents, t)
}

func look(ctx context.Context, m worktree.Manager, s *session.Session, agents []*session.Worktree, t target) (*Forecast, error) {
	f := &Forecast{Session: s.Name, Target: t.branch}
	landed, err := m.MergedRefs(ctx, t.tip, "", turn.LandedPattern)
	if err != nil {
		return nil, err
	}
	states, err := newestStates(ctx, m, agents)
	if err != nil {
		return nil, err
	}
	var ours, theirs []string
	for i, w := range agents {
		commit := states[i].Commit
		if states[i].Turn == 0 { // what has landed without being committed is not on the branch
			if with, err := withLanded(ctx, m, s, w, commit, t.tip); err == nil {
				commit = with
			}
		}
		c := &composer{m: m, session: s, agent: w, source: &source{state: commit}}
		joined, err := c.joined(ctx)
		if err != nil {
			return nil, err
		}
		tip := t.tip
		if len(landed) > 0 {
			if tip, err = withStates(ctx, m, t.tip, states[i].Commit); err != nil {
				return nil, err
			}
		}
		ours, theirs = append(ours, tip), append(theirs, joined)
	}
	var pairs [][2]string
	for i := range theirs {
		pairs = append(pairs, [2]string{ours[i], theirs[i]})
	}
	for i := range theirs {
		for k := i + 1; k < len(theirs); k++ {
			pairs = append(pairs, [2]string{theirs[i], theirs[k]})
		}
	}
	merged, err := m.MergePairs(ctx, t.place(m), pairs)
	if err != nil {
		return nil, err
	}
	var changed [][2]string
	for i := range theirs {
		changed = append(changed, [2]string{t.tip, merged[i].Tree})
	}
	counts, err := m.CountChanges(ctx, changed)
	if err != nil {
		return nil, err
	}
	for i := range theirs {
		states[i].Files, states[i].Conflicts = counts[changed[i]], merged[i].Conflicts
		f.Agents = append(f.Agents, states[i])
	}
	next := len(theirs)
	for i := range theirs {
		for k := i + 1; k < len(theirs); k++ {
			if files := merged[next].Conflicts; len(files) > 0 && f.Agents[i].lands() && f.Agents[k].lands() {
				f.Pairs = append(f.Pairs, Pair{One: agents[i].Agent, Other: agents[k].Agent, Files: files})
			}
			next++
		}
	}
	f.Order = order(f.Agents, f.Pairs)
	return f, nil
}

// newestStates are the states that are known of agents without looking at their worktrees: the snapshot at the end of the
// last turn or, when the branch has gone on since, the branch.
func newestStates(ctx context.Context, m worktree.Manager, agents []*session.Worktree) ([]Outlook, error) {
	var prefixes, branches []string
	for _, w := range agents {
		prefixes, branches = append(prefixes, turn.RefPrefix(w.TurnSession)+"turn/"), append(branches, w.Branch)
	}
	refs, err := m.Refs(ctx, prefixes...)
	if err != nil {
		return nil, err
	}
	tips, err := m.Branches(ctx, branches)
	if err != nil {
		return nil, err
	}
	var all []Outlook
	var snapshots []string
	for i, w := range agents {
		o := Outlook{Agent: w.Agent, Commit: tips[w.Branch]}
		for ref := range refs {
			number, mine := strings.CutPrefix(ref, prefixes[i])
			if n, err := strconv.Atoi(number); mine && err == nil {
				o.Turn = max(o.Turn, n)
			}
		}
		if o.Turn > 0 {
			snapshots = append(snapshots, refs[turn.TurnRef(w.TurnSession, o.Turn)])
		}
		all = append(all, o)
	}
	heads, err := m.SnapshotHeads(ctx, snapshots)
	if err != nil {
		return nil, err
	}
	for i, w := range agents {
		o := &all[i]
		if o.Turn > 0 {
			snapshot := refs[turn.TurnRef(w.TurnSession, o.Turn)]
			if o.Commit == "" || heads[snapshot] == o.Commit {
				o.Commit = snapshot
			} else {
				o.Turn = 0
			}
		}
		if o.Commit == "" {
			return nil, fault.New(fault.Failed, "%s: its branch %s is gone", w.Agent, w.Branch).Hint("git branch %s %s", fault.Quote(w.Branch), w.BaseCommit)
		}
	}
	return all, nil
}

// order is the order in which work collides least: next comes the agent whose work collides with that of the fewest of the
// rest, of several the one with fewer files, then the older one. What collides with the target comes last, and what has
// nothing to land not at all.
func order(agents []Outlook, pairs []Pair) []string {
	var rest []Outlook
	for _, o := range agents {
		if o.lands() {
			rest = append(rest, o)
		}
	}
	var names []string
	for len(rest) > 0 {
		best := slices.MinFunc(rest, func(a, b Outlook) int {
			for _, by := range []func(Outlook) int{
				func(o Outlook) int { return min(len(o.Conflicts), 1) },
				func(o Outlook) int { return collisions(o, rest, pairs) },
				func(o Outlook) int { return o.Files },
			} {
				if d := by(a) - by(b); d != 0 {
					return d
				}
			}
			return 0
		})
		names = append(names, best.Agent)
		rest = slices.DeleteFunc(rest, func(o Outlook) bool { return o.Agent == best.Agent })
	}
	return names
}

// collisions counts the agents of rest whose work collides with that of o.
func collisions(o Outlook, rest []Outlook, pairs []Pair) int {
	n := 0
	for _, p := range pairs {
		other := p.Other
		if other == o.Agent {
			other = p.One
		} else if p.One != o.Agent {
			continue
		}
		if slices.ContainsFunc(rest, func(r Outlook) bool { return r.Agent == other }) {
			n++
		}
	}
	return n
}
