package landing

import (
	"context"
	"maps"
	"slices"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// lookForLeft finds commits that the branch, or the session's target, once had and the branch lacks
// now. If an agent has them, it got them from there. Only first parents count, because a merge
// brings commits that were made elsewhere. Commits that the agent made itself are its work, also if
// the branch had them for a while.
func (a *asker) lookForLeft(h *history) error {
	h.gone, h.left, h.made = map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}
	for _, commit := range a.led.past {
		for h.parents[commit] != nil && !h.inTip[commit] && !h.gone[commit] {
			h.gone[commit] = true
			if len(h.parents[commit]) == 0 {
				break
			}
			commit = h.parents[commit][0]
		}
	}
	if len(h.gone) == 0 {
		return nil
	}
	if err := a.lookForMade(h); err != nil {
		return err
	}
	maps.Copy(h.left, h.gone)
	maps.DeleteFunc(h.left, func(one string, _ bool) bool { return h.made[h.agent][one] })
	return nil
}

// lookForMade finds the commits that each agent made. Commits of the agent it started from count
// too, as far as it began with them.
func (a *asker) lookForMade(h *history) error {
	alone := map[string]map[string]bool{}
	for turnSession, life := range a.led.lives {
		var tips []worktree.PastTip
		if life.branch != "" {
			var err error
			if tips, err = a.m.Refs().PastTips(life.branch); err != nil {
				return err
			}
		}
		alone[turnSession], _ = h.madeOn(tips)
	}
	for turnSession, life := range a.led.lives {
		h.made[turnSession] = maps.Clone(alone[turnSession])
		began := h.real.history(life.start)
		for _, p := range a.led.lives.line(life.now) {
			for one := range alone[p.turnSession] {
				if p.turnSession != turnSession && began[one] {
					h.made[turnSession][one] = true
				}
			}
		}
	}
	return nil
}

// linkMade links the node of a landed state to the newest commits of its agent, if the state has
// them only through commits that the branch has left.
func (h *history) linkMade(node string, one *Stand) {
	has := h.real.history(one.State)
	for commit := range h.gone {
		if has[commit] {
			made := maps.Clone(h.made[one.TurnSession])
			maps.DeleteFunc(made, func(one string, _ bool) bool { return !has[one] })
			for _, commit := range h.newest(made) {
				h.link(h.landed, node, commit)
			}
			return
		}
	}
}

// leftOf returns the newest commits in a commit's history that the branch has left. The one the
// agent got last comes first.
func (h *history) leftOf(commit string) []string {
	got := h.from.history(commit)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return !h.left[one] })
	left := h.real.newest(got)
	last := h.real.history(h.gotLast(commit))
	first := slices.DeleteFunc(slices.Clone(left), func(one string) bool { return !last[one] })
	return append(first, slices.DeleteFunc(left, func(one string) bool { return last[one] })...)
}

// hasLeft reports whether git's history of a commit has commits that the branch has left, also if
// an update has taken them out since.
func (h *history) hasLeft(commit string) bool {
	has := h.real.history(commit)
	for left := range h.left {
		if has[left] {
			return true
		}
	}
	return false
}

// gotLast returns the commit that an agent got from the branch last, following the first parents of
// its commits; "" if unknown.
func (h *history) gotLast(commit string) string {
	had := func(one string) bool { return h.inTip[one] || h.left[one] }
	for {
		if had(commit) {
			return commit
		}
		from := h.parents[commit]
		for _, merged := range from[min(1, len(from)):] {
			if had(merged) {
				return merged
			}
		}
		if len(from) == 0 {
			return ""
		}
		commit = from[0]
	}
}

// gotWith returns what came with the commits that the branch has left: their history, without
// commits that the agent made itself.
func (h *history) gotWith(commit string) map[string]bool {
	got := h.real.history(commit)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return !h.left[one] })
	got = h.real.history(slices.Collect(maps.Keys(got))...)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return h.made[h.agent][one] })
	return got
}

// baseAt returns one commit with what an earlier commit of the branch and a node of the agent's
// work had in common, "" for none.
func (a *asker) baseAt(ctx context.Context, h *history, before, node string, line []point, within ...string) (string, error) {
	both := h.common(before, node)
	if len(both) == 0 {
		var err error
		if both, err = a.m.Objects().MergeBases(ctx, h.commitOf(before), h.commitOf(node)); err != nil {
			return "", err
		}
	}
	left := h.leftOf(h.commitOf(node))
	if err := a.linkLeft(ctx, h, left, line); err != nil {
		return "", err
	}
	return a.baseWith(ctx, h, before, node, both, left, line, within...)
}

// baseWith returns one commit with everything that the tip and a node have in common (bases), and
// what the node got from the branch and the branch has left; "" for neither. What an update took
// out again is left out, and so is work of the agent that the branch lacks, because that work is to
// land.
func (a *asker) baseWith(ctx context.Context, h *history, tip, node string, bases, left []string, line []point, within ...string) (string, error) {
	var nodes []string
	got := h.of(left...)
	for _, one := range bases {
		if got[one] {
			continue
		}
		kept, err := a.withoutTakenOut(ctx, h, one, node)
		if err != nil {
			return "", err
		}
		nodes = append(nodes, kept)
	}
	nodes = append(nodes, left...)
	base, err := a.baseOf(ctx, h, nodes)
	if err != nil || base == "" {
		return "", err
	}
	for _, own := range h.lacking(tip, nodes, line) {
		if slices.Contains(within, own) {
			continue
		}
		before, err := a.baseAt(ctx, h, tip, own, line, append(within, own)...)
		if err != nil {
			return "", err
		}
		if before == "" {
			continue
		}
		merged, err := a.m.Objects().MergeTrees(ctx, a.t.place(a.m), h.commitOf(own), base, before)
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) > 0 && len(line) == 0 {
			continue // for a commit alone it is unknown what landed uncommitted with it
		}
		if len(merged.Conflicts) > 0 {
			return "", a.cannotTell(h.inWords(a, own), merged.Conflicts)
		}
		if base, err = a.m.Objects().Commit(ctx, worktree.NewCommit{Tree: merged.Tree, Message: "paw: what " + a.agent.Name + " got\n", Own: true}); err != nil {
			return "", err
		}
	}
	return base, nil
}

// withoutTakenOut returns a base without those commits the branch has left that an update took out
// again before the later node.
func (a *asker) withoutTakenOut(ctx context.Context, h *history, one, later string) (string, error) {
	has, kept := h.of(later), one
	for _, got := range h.leftOf(h.commitOf(one)) {
		if has[got] {
			continue
		}
		common := h.common(later, got)
		both, err := a.baseOf(ctx, h, common)
		if err != nil {
			return "", err
		}
		if both == "" {
			continue
		}
		merged, err := a.m.Objects().MergeTrees(ctx, a.t.place(a.m), got, h.commitOf(kept), both)
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) > 0 {
			return "", a.cannotTell("what it got", merged.Conflicts)
		}
		commit, err := a.m.Objects().Commit(ctx, worktree.NewCommit{Tree: merged.Tree, Parents: []string{both}, Message: "paw: what " + a.agent.Name + " kept\n", Own: true})
		if err != nil {
			return "", err
		}
		kept = "kept " + commit
		h.commits[kept], h.whose[kept] = commit, h.whose[one]
		h.from[kept] = slices.Clone(common)
		h.landed.link(kept, one)
	}
	return kept, nil
}

// lacking returns the agent's newest work that is in nodes and not in tip.
func (h *history) lacking(tip string, nodes []string, line []point) []string {
	had, all := h.of(tip), h.all(nodes...)
	lacks := map[string]bool{}
	for _, p := range line {
		if node := p.String(); h.commits[node] != "" && all[node] && !had[node] {
			lacks[node] = true
		}
	}
	for one := range h.made[h.agent] {
		if all[one] && !had[one] {
			lacks[one] = true
		}
	}
	return h.newest(lacks)
}

// all returns nodes with all their ancestors, also through landings.
func (h *history) all(nodes ...string) map[string]bool {
	has := map[string]bool{}
	for todo := slices.Clone(nodes); len(todo) > 0; {
		node := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; !has[node] {
			has[node] = true
			todo = append(append(todo, h.from[node]...), h.landed[node]...)
		}
	}
	return has
}

// newest returns the nodes of some that no other node of some came from.
func (h *history) newest(some map[string]bool) (best []string) {
	rest := maps.Clone(some)
	for _, node := range slices.Sorted(maps.Keys(some)) {
		if !rest[node] {
			continue
		}
		for before := range h.all(node) {
			if before != node {
				delete(rest, before)
			}
		}
	}
	return slices.Sorted(maps.Keys(rest))
}

// cannotTell returns the error for lost work that later work is mixed with in some files.
func (a *asker) cannotTell(what string, paths []string) error {
	refused := errs.New(errs.Conflict, "%s: %s is not in %s any more, and cannot be told from what came after it: %s",
		a.name(), what, a.t.branch, few(paths, namedPaths))
	last, undone := a.agent.LastShift()
	switch {
	case a.session.Host != "":
		refused = refused.Hint("paw sh %s git pull", a.name())
	case last != nil && last.Kind == session.ShiftUpdate && !undone: // most likely the update has mixed them
		refused = refused.Hint("paw rewind %s --undo --session %s", a.agent.Name, a.session.Name)
	case a.t.branch == a.session.Target:
		refused = refused.Hint("paw update %s --session %s", a.agent.Name, a.session.Name)
	default:
		refused = refused.Hint("paw send %s --conflict --into %s", a.name(), errs.Quote(a.t.branch))
	}
	mixed := &mixedError{error: refused}
	for _, path := range paths {
		mixed.files = append(mixed.files, Collision{Path: path})
	}
	return mixed
}

// inWords names the landing that brought a node of the agent's work.
func (h *history) inWords(a *asker, own string) string {
	for i := range a.led.all {
		if one := &a.led.all[i]; h.nodeOf(a, one) == own {
			return landingWords(one)
		}
	}
	return "what it did before"
}
