package landing

import (
	"context"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/worktree"
)

// subtracts reports whether the work of a landing is to be brought again with the state of a line.
func (a *asker) subtracts(line []point, one *Stand) bool {
	if !a.mine(one) {
		return false
	}
	if one.Standing == Offered {
		_, shared := a.led.meeting(line, one)
		return shared
	}
	return a.led.lostFor(line, one) && (one.Standing != Reverted || a.again)
}

// toTakeOut are the landings that led to the state and whose work is to be brought again.
func (a *asker) toTakeOut(s *sides) (some []int) {
	for i := range a.led.all {
		if a.subtracts(s.line, &a.led.all[i]) {
			some = append(some, i)
		}
	}
	return some
}

// takeOut takes the landings of the agent that the branch has lost out of what both sides have: their work counts as new.
func (a *asker) takeOut(ctx context.Context, s *sides) error {
	var out []int
	some := a.toTakeOut(s)
	within, err := a.beforeMerges(ctx, s, some)
	if err != nil {
		return err
	}
	for _, base := range s.bases {
		var rest []int
		for _, i := range some {
			one := &a.led.all[i]
			if one.Standing == Offered && s.left == "" {
				continue // it was never merged
			}
			in := base
			if one.Standing == Offered {
				in = s.left
			}
			there, err := a.comesAfter(ctx, in, s.line, one)
			if err != nil {
				return err
			}
			if there {
				out = append(out, i)
			} else {
				rest = append(rest, i)
			}
		}
		if some = rest; len(rest) == 0 {
			break
		}
		rewritten, err := a.led.looker.rewrittenIn(ctx, base, rest)
		if err != nil {
			return err
		}
		for i := range rewritten {
			out = append(out, i)
		}
		some = slices.DeleteFunc(some, func(i int) bool { return rewritten[i] != "" })
	}
	slices.Sort(out)
	if len(out) == 0 && !within {
		return nil
	}
	tree, err := a.baseTree(ctx, s.bases)
	if err != nil {
		return err
	}
	for _, i := range slices.Backward(out) {
		one := &a.led.all[i]
		s.out = append(s.out, one)
		after, err := a.broughtFor(ctx, s.line, one)
		if err != nil {
			return err
		}
		before, err := a.keptOf(ctx, one)
		if err != nil {
			return err
		}
		merged, err := a.m.MergeTrees(ctx, a.t.place(a.m), after, tree, before)
		if err != nil {
			return err
		}
		if len(merged.Conflicts) > 0 {
			return a.cannotTell(one, merged.Conflicts)
		}
		if tree, err = a.withReplaced(ctx, merged.Tree, one); err != nil {
			return err
		}
	}
	base, err := a.m.Commit(ctx, worktree.NewCommit{Tree: tree, Message: "paw: what both have\n", Own: true})
	if err != nil {
		return err
	}
	s.bases = []string{base}
	s.theirs, err = a.m.Commit(ctx, worktree.NewCommit{Tree: s.theirs + "^{tree}", Parents: []string{base}, Message: "paw: " + a.agent.Name + "\n", Own: true})
	if err != nil {
		return err
	}
	s.ours, err = a.m.Commit(ctx, worktree.NewCommit{Tree: a.t.tip + "^{tree}", Parents: []string{base}, Message: "paw: " + a.t.branch + "\n", Own: true})
	return err
}

// beforeMerges moves bases that a landing to be brought again has brought into the branch itself, such as the agent's commits by a merge, back to
// what came before them. It reports whether there was one.
func (a *asker) beforeMerges(ctx context.Context, s *sides, some []int) (moved bool, err error) {
	for at, base := range s.bases {
		for _, i := range some {
			one := &a.led.all[i]
			if one.As != string(Merge) || one.Standing == Offered {
				continue
			}
			if brought, err := a.m.Contains(ctx, one.After, base); err != nil || !brought {
				if err != nil {
					return moved, err
				}
				continue
			}
			before, err := a.m.MergeBases(ctx, base, one.Before)
			if err != nil {
				return moved, err
			}
			if len(before) == 1 && before[0] != base {
				s.bases[at], base, moved = before[0], before[0], true
			}
		}
	}
	return moved, nil
}

// withReplaced brings the landings into a tree again whose work was taken out with that of a later one and is not to be brought.
func (a *asker) withReplaced(ctx context.Context, tree string, one *Stand) (string, error) {
	for i := range a.led.all {
		earlier := &a.led.all[i]
		if !a.stays(earlier, one) {
			continue
		}
		merged, err := a.m.MergeTrees(ctx, a.t.place(a.m), earlier.Before, tree, earlier.After)
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) == 0 {
			tree = merged.Tree
		}
	}
	return tree, nil
}

// stays reports whether the work of a landing that a later one has brought again is none of what is to be brought, although that of the later
// one is: the branch has it, or has lost it by a revert.
func (a *asker) stays(earlier, later *Stand) bool {
	if earlier.Session != later.Session || !slices.Contains(later.Instead, earlier.ID) {
		return false
	}
	return earlier.Standing == InForce || earlier.Standing == Rewritten || earlier.Standing == Reverted && !a.again
}

// broughtFor is what a landing made of the branch or, where only a part of its work led to the state of a line, would have made of it with that
// alone.
func (a *asker) broughtFor(ctx context.Context, line []point, one *Stand) (string, error) {
	part, err := a.partOf(ctx, line, one)
	if err != nil || part == "" {
		return one.After, err
	}
	return a.cutAt(ctx, one, part, one.After)
}

// keptOf is what the branch was before a landing, with the part of its work that a later one has brought again.
func (a *asker) keptOf(ctx context.Context, one *Stand) (string, error) {
	var lines []point
	for _, by := range one.partly {
		lines = append(lines, a.led.lives.line(by)...)
	}
	met, found := meeting(a.led.lives.line(one.point()), lines)
	if !found || met.turn+met.landing == 0 {
		return one.Before, nil
	}
	part, err := a.commitAt(ctx, met)
	if err != nil || part == "" {
		return one.Before, err
	}
	return a.cutAt(ctx, one, part, one.Before)
}

// cutAt is what a landing would have made of the branch with an earlier state of the agent; otherwise is for where nobody can tell.
func (a *asker) cutAt(ctx context.Context, one *Stand, part, otherwise string) (string, error) {
	tree, err := a.withWhatItGot(ctx, one, part)
	if err != nil || tree == "" {
		return otherwise, err
	}
	merged, err := a.m.MergeTrees(ctx, a.t.place(a.m), one.State, one.After, tree)
	if err != nil || len(merged.Conflicts) > 0 {
		return otherwise, err
	}
	return merged.Tree, nil
}

// withWhatItGot is an earlier state of the agent with what it had got from the branch when a landing took place, which is not its work; "" where
// nobody can tell.
func (a *asker) withWhatItGot(ctx context.Context, one *Stand, part string) (string, error) {
	got, err := a.m.MergeBases(ctx, one.State, one.Before)
	if err != nil || len(got) != 1 {
		return "", err
	}
	if had, err := a.m.Contains(ctx, part, got[0]); err != nil || had {
		return part, err
	}
	merged, err := a.m.MergeTree(ctx, a.t.place(a.m), part, got[0])
	if err != nil || len(merged.Conflicts) > 0 {
		return "", err
	}
	return merged.Tree, nil
}

// partOf is the state of the agent up to which the work of a landing led to that of a line, "" for all of it.
func (a *asker) partOf(ctx context.Context, line []point, one *Stand) (string, error) {
	met, found := a.led.meeting(line, one)
	if !found || met == one.point() {
		return "", nil
	}
	return a.commitAt(ctx, met)
}

// comesAfter reports whether a commit has the work of a landing by its history, as far as it led to the state of a line.
func (a *asker) comesAfter(ctx context.Context, commit string, line []point, one *Stand) (bool, error) {
	of := []string{one.After, one.State}
	part, err := a.partOf(ctx, line, one)
	if err != nil {
		return false, err
	}
	if part != "" {
		of = append(of, part)
	}
	if one.As == string(Merge) {
		parents, err := a.m.ParentsOf(ctx, one.After)
		if err != nil {
			return false, err
		}
		of = append(of, parents[1:]...)
	}
	for _, brought := range of {
		if has, err := a.m.Contains(ctx, commit, brought); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// cannotTell refuses to bring work again that later work has been mixed with.
func (a *asker) cannotTell(one *Stand, paths []string) error {
	return errs.New(errs.Conflict, "%s: landing %d is not in %s any more, and cannot be told from what came after it: %s",
		a.name(), one.ID, a.t.branch, strings.Join(paths, ", ")).Hint("paw update %s --session %s", a.agent.Name, a.session.Name)
}

// goneFrom reports whether a state has nothing of a landing either that the branch has lost by a revert: the agent has taken it out.
func (a *asker) goneFrom(ctx context.Context, state string, one *Stand) (bool, error) {
	if one.Standing != Reverted {
		return false, nil
	}
	return a.led.looker.without(ctx, one, state, nil)
}
