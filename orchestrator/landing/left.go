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
func (a *asker) lookForLeft(h *history, updates map[string]bool) error {
	h.left = map[string]bool{}
	if len(a.led.past) == 0 {
		return nil
	}
	made, err := a.m.MadeOn(a.agent.Branch)
	if err != nil {
		return err
	}
	for commit := range updates { // the merges that paw made for it
		made[commit] = made[commit] || len(h.parents[commit]) > 1 && !slices.Contains(a.led.past, commit)
	}
	alone := a.withoutTakenBack(h, made)
	for _, tip := range a.led.past {
		had := h.real.history(tip)
		maps.DeleteFunc(had, func(one string, _ bool) bool { return h.inTip[one] || h.real[one] == nil })
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
		}
		if parents := h.parents[one.After]; one.As == string(Merge) && one.Phase != session.LandingOffered && len(parents) > 1 {
			made[parents[1]] = true
		}
	}
	return alone
}

// leftOf returns the newest commits that a commit has and that the branch has left, the one that the agent got last first.
func (h *history) leftOf(commit string) []string {
	got := h.from.history(commit)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return !h.left[one] })
	left := h.real.newest(got)
	last := h.real.history(h.gotLast(commit))
	first := slices.DeleteFunc(slices.Clone(left), func(one string) bool { return !last[one] })
	return append(first, slices.DeleteFunc(left, func(one string) bool { return last[one] })...)
}

// gotLast returns what an agent got from the branch last, by the first parents of its commits and what was merged there; "" where nothing tells.
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

// gotBy returns what the agent got from the branch up to a state and the branch has left, without the agent's own work that the branch, at node
// tip, does not have.
func (a *asker) gotBy(ctx context.Context, h *history, tip string, line []point, commit string) (all []string, err error) {
	for _, left := range h.leftOf(commit) {
		got, err := a.withoutLost(ctx, h, tip, line, left)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, got) {
			all = append(all, got)
		}
	}
	return all, nil
}

// baseAt returns one commit with what an earlier commit of the branch and a state had in common, "" for nothing.
func (a *asker) baseAt(ctx context.Context, h *history, before string, at point) (string, error) {
	got, err := a.gotBy(ctx, h, before, a.led.lives.line(at), h.commitOf(at.String()))
	if err != nil {
		return "", err
	}
	both := h.common(before, at.String())
	if len(both) == 0 {
		if both, err = a.m.MergeBases(ctx, h.commitOf(before), h.commitOf(at.String())); err != nil {
			return "", err
		}
	}
	return a.baseOf(ctx, h, append(both, got...))
}

// withoutLost returns a commit of the branch without the work of the agent that it had and that the branch has left: that is to land again, and
// everything else there is what the agent got. Where the agent's work begins, the branch and the agent's newest state there tell.
func (a *asker) withoutLost(ctx context.Context, h *history, tip string, line []point, left string) (string, error) {
	newest, one, err := a.newestIn(ctx, h, line, left)
	if err != nil || one == nil || h.commits[newest.String()] == "" || h.of(tip)[newest.String()] {
		return left, err
	}
	base, err := a.baseAt(ctx, h, tip, newest)
	if err != nil || base == "" {
		return left, err
	}
	merged, err := a.m.MergeTrees(ctx, a.t.place(a.m), h.commits[newest.String()], left, base)
	if err != nil {
		return "", err
	}
	if len(merged.Conflicts) > 0 {
		return "", a.cannotTell(one, merged.Conflicts)
	}
	got, err := a.m.Commit(ctx, worktree.NewCommit{Tree: merged.Tree, Message: "paw: what " + a.agent.Name + " got\n", Own: true})
	h.from[got] = h.real.common(left, h.tip)
	return got, err
}

// newestIn returns the newest state of a line whose work a commit that the branch has left had by a landing, and the landing.
func (a *asker) newestIn(ctx context.Context, h *history, line []point, left string) (newest point, by *Stand, err error) {
	had := h.real.history(left)
	var there []*Stand
	var rest []int
	for i := range a.led.all {
		one := &a.led.all[i]
		_, shared := a.led.meeting(line, one)
		switch {
		case !shared:
		case had[one.After]:
			there = append(there, one)
		case !one.stands():
			rest = append(rest, i)
		}
	}
	rest = slices.DeleteFunc(rest, func(i int) bool {
		return slices.ContainsFunc(there, func(one *Stand) bool { return slices.Contains(a.led.all[i].Instead, one.ID) })
	})
	if len(rest) > 0 { // those that may be there under another name
		rewritten, err := a.led.looker.rewrittenIn(ctx, left, rest)
		if err != nil {
			return newest, nil, err
		}
		for i := range rewritten {
			there = append(there, &a.led.all[i])
		}
	}
	nearest := len(line)
	for _, one := range there {
		met, _ := a.led.meeting(line, one)
		if at := slices.Index(line, met); at < nearest {
			nearest, newest, by = at, met, one
		}
	}
	return newest, by, nil
}

// cannotTell refuses to bring work again that later work has been mixed with.
func (a *asker) cannotTell(one *Stand, paths []string) error {
	return errs.New(errs.Conflict, "%s: landing %d is not in %s any more, and cannot be told from what came after it: %s",
		a.name(), one.ID, a.t.branch, strings.Join(paths, ", ")).Hint("paw update %s --session %s", a.agent.Name, a.session.Name)
}
