package landing

import (
	"context"
	"slices"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree/objects"
)

// baseOf returns one commit that contains several nodes, "" for none. It merges them, as git does
// with several merge bases, and leaves out a later node that conflicts.
func (a *asker) baseOf(ctx context.Context, h *history, nodes []string) (string, error) {
	if len(nodes) == 0 {
		return "", nil
	}
	base, made := h.commitOf(nodes[0]), nodes[0]
	for _, next := range nodes[1:] {
		if h.commitOf(next) == base {
			continue
		}
		common, err := a.basesBetween(ctx, h, made, next)
		if err != nil {
			return "", err
		}
		before, err := a.baseOf(ctx, h, common)
		if err != nil {
			return "", err
		}
		if before == "" {
			continue
		}
		merged, err := a.Repo.Objects().MergeTrees(ctx, a.led.place(a.Repo), before, base, h.commitOf(next))
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) > 0 {
			continue
		}
		commit, err := a.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: merged.Tree, Parents: []string{base, h.commitOf(next)}, Message: "paw: what both have\n", Own: true})
		if err != nil {
			return "", err
		}
		both := "base " + commit
		h.commits[both] = commit
		h.from[both] = []string{made, next}
		base, made = commit, both
	}
	return base, nil
}

// basesBetween returns what two nodes have in common. If the graph has nothing in common, git is
// asked.
func (a *asker) basesBetween(ctx context.Context, h *history, one, other string) ([]string, error) {
	if both := h.common(one, other); len(both) > 0 {
		return both, nil
	}
	return a.Repo.Objects().MergeBases(ctx, h.commitOf(one), h.commitOf(other))
}

// baseAt returns one commit with what an earlier commit of the branch and a node of the agent's
// work had in common, "" for none.
func (a *asker) baseAt(ctx context.Context, h *history, before, node string, line []point, within ...string) (string, error) {
	both, err := a.basesBetween(ctx, h, before, node)
	if err != nil {
		return "", err
	}
	left := h.leftOf(h.commitOf(node))
	if err := a.linkLeft(ctx, h, left, line); err != nil {
		return "", err
	}
	return a.baseWith(ctx, h, before, node, both, left, line, within...)
}

// baseWith returns one commit with everything that the tip and a node have in common (bases), and
// with the commits that the node got from the branch before the branch was moved back behind them
// (left); "" for neither. What an update took out again is left out, and so is work of the agent
// that the branch lacks, because that work is to land. line are the states that the node came from;
// within are the nodes whose base is being made already.
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
		merged, err := a.Repo.Objects().MergeTrees(ctx, a.led.place(a.Repo), h.commitOf(own), base, before)
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) > 0 && len(line) == 0 {
			continue // for a commit alone it is unknown what landed uncommitted with it
		}
		if len(merged.Conflicts) > 0 {
			return "", a.cannotTell(h.inWords(a, own), merged.Conflicts)
		}
		if base, err = a.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: merged.Tree, Message: "paw: what " + a.Record.Name + " got\n", Own: true}); err != nil {
			return "", err
		}
	}
	return base, nil
}

// withoutTakenOut returns a base without the commits that the branch was moved back behind, and
// that an update took out of the agent's worktree before the later node.
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
		merged, err := a.Repo.Objects().MergeTrees(ctx, a.led.place(a.Repo), got, h.commitOf(kept), both)
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) > 0 {
			return "", a.cannotTell("what it got", merged.Conflicts)
		}
		commit, err := a.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: merged.Tree, Parents: []string{both}, Message: "paw: what " + a.Record.Name + " kept\n", Own: true})
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

// cannotTell returns the error for lost work that later work is mixed with in some files.
func (a *asker) cannotTell(what string, paths []string) error {
	refused := errs.New(errs.Conflict, "%s: %s is not in %s any more, and cannot be told from what came after it: %s",
		a.name(), what, a.led.branch, few(paths, namedPaths))
	last, undone := a.Record.LastShift()
	switch {
	case a.Session.Host != "":
		refused = refused.Hint("paw sh %s git pull", a.name())
	case last != nil && last.Kind == session.ShiftUpdate && !undone: // most likely the update has mixed them
		refused = refused.Hint("paw rewind %s --undo --session %s", a.Record.Name, a.Session.Name)
	case a.led.branch == a.Session.Target:
		refused = refused.Hint("paw update %s --session %s", a.Record.Name, a.Session.Name)
	default:
		refused = refused.Hint("%s", a.conflictLine(a.led.branch))
	}
	mixed := &CollisionError{error: refused}
	for _, path := range paths {
		mixed.Files = append(mixed.Files, Collision{Path: path})
	}
	return mixed
}

// inWords names the landing that brought a node of the agent's work.
func (h *history) inWords(a *asker, own string) string {
	for _, one := range a.led.all {
		if h.nodeOf(a, one) == own {
			return landingWords(one)
		}
	}
	return "what it did before"
}
