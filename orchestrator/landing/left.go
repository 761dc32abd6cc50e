package landing

import (
	"context"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// lookForLeft finds the commits that the branch was at and has left, as by git reset, with their histories. Commits that the agent made itself are its
// work, also when the branch had them for a while: what has these is nothing that the agent got.
func (a *asker) lookForLeft(h *history) error {
	h.left = map[string]bool{}
	if len(a.led.past) == 0 {
		return nil
	}
	made, err := a.m.MadeOn(a.agent.Branch)
	if err != nil {
		return err
	}
	alone := a.withoutTakenBack(h, made)
	in := h.real.history(h.tip)
	for _, tip := range a.led.past {
		had := h.real.history(tip)
		maps.DeleteFunc(had, func(one string, _ bool) bool { return in[one] || h.real[one] == nil })
		own := false
		for one := range had {
			own = own || alone[one]
		}
		if !own {
			maps.Copy(h.left, had)
		}
	}
	maps.DeleteFunc(h.left, func(one string, _ bool) bool { return made[one] })
	return nil
}

// withoutTakenBack returns the commits that the agent made and that no landing brought which the branch does not have any more: those went with the
// landing. To the commits that the agent made it adds those that paw made for it, of what was not committed.
func (a *asker) withoutTakenBack(h *history, made map[string]bool) map[string]bool {
	alone := maps.Clone(made)
	maps.DeleteFunc(alone, func(one string, _ bool) bool { return h.real[one] == nil })
	for _, one := range a.led.all {
		if !a.mine(&one) || one.stands() {
			continue
		}
		brought, before := h.real.history(one.After), h.real.history(one.Before)
		if one.Phase == session.LandingOffered {
			before, made[one.After] = nil, true
		}
		for commit := range brought {
			if !before[commit] {
				delete(alone, commit)
			}
			if one.As == string(Merge) && one.Phase != session.LandingOffered && !before[commit] && commit != one.After {
				made[commit] = true
			}
		}
	}
	return alone
}

// leftOf returns the newest commits that a commit has and that the branch has left, the one that the agent got last first.
func (h *history) leftOf(commit string) []string {
	in, got := h.real.history(h.tip), h.from.history(commit)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return !h.left[one] })
	left := h.real.newest(got)
	last := h.gotLast(commit, func(one string) bool { return in[one] || h.left[one] })
	slices.SortStableFunc(left, func(x, y string) int { return rank(h, last, x) - rank(h, last, y) })
	return left
}

// rank is lower for what came before a commit.
func rank(h *history, last, commit string) int {
	if last != "" && h.real.history(last)[commit] {
		return 0
	}
	return 1
}

// gotLast returns what an agent got from the branch last, by the first parents of its commits and what was merged there; "" where nothing tells.
func (h *history) gotLast(commit string, had func(string) bool) string {
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

// withoutLost returns a commit of the branch without the work of the agent's landings that it had and that the branch has left: it is to land
// again, and everything else there is what the agent got.
func (a *asker) withoutLost(ctx context.Context, h *history, line []point, left string) (string, error) {
	had := h.real.history(left)
	var gone []int
	for i := range a.led.all {
		one := &a.led.all[i]
		if _, shared := a.led.meeting(line, one); shared && !one.stands() {
			gone = append(gone, i)
		}
	}
	var out []*Stand
	for _, i := range gone {
		if had[a.led.all[i].After] {
			out = append(out, &a.led.all[i])
		}
	}
	rest := slices.DeleteFunc(gone, func(i int) bool { // those that may be there under another name
		one := &a.led.all[i]
		return slices.ContainsFunc(out, func(there *Stand) bool { return there == one || slices.Contains(one.Instead, there.ID) })
	})
	if len(rest) > 0 {
		rewritten, err := a.led.looker.rewrittenIn(ctx, left, rest)
		if err != nil {
			return "", err
		}
		for i := range rewritten {
			out = append(out, &a.led.all[i])
		}
	}
	if len(out) == 0 {
		return left, nil
	}
	slices.SortFunc(out, func(x, y *Stand) int { return y.ID - x.ID })
	tree := left
	for _, one := range out {
		after, err := a.broughtTo(ctx, h, line, one)
		if err != nil {
			return "", err
		}
		merged, err := a.m.MergeTrees(ctx, a.t.place(a.m), after, tree, one.Before)
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) > 0 {
			return "", a.cannotTell(one, merged.Conflicts)
		}
		tree = merged.Tree
	}
	got, err := a.m.Commit(ctx, worktree.NewCommit{Tree: tree + "^{tree}", Message: "paw: what " + a.agent.Name + " got\n", Own: true})
	h.from[got] = h.real.common(left, h.tip)
	return got, err
}

// broughtTo returns what a landing made of the branch or, where only a part of its work led to a state, what it would have made of it with that.
func (a *asker) broughtTo(ctx context.Context, h *history, line []point, one *Stand) (string, error) {
	met, _ := a.led.meeting(line, one)
	if met == one.point() || h.commits[met.String()] == "" {
		return one.After, nil
	}
	base, err := a.baseBetween(ctx, h, one.Before, met.String())
	if err != nil || base == "" {
		return one.After, err
	}
	merged, err := a.m.MergeTrees(ctx, a.t.place(a.m), base, one.Before, h.commits[met.String()])
	if err != nil || len(merged.Conflicts) > 0 {
		return one.After, err
	}
	return merged.Tree, nil
}

// cannotTell refuses to bring work again that later work has been mixed with.
func (a *asker) cannotTell(one *Stand, paths []string) error {
	return errs.New(errs.Conflict, "%s: landing %d is not in %s any more, and cannot be told from what came after it: %s",
		a.name(), one.ID, a.t.branch, strings.Join(paths, ", ")).Hint("paw update %s --session %s", a.agent.Name, a.session.Name)
}
