package states

import (
	"context"
	"slices"

	"paw/worktree/objects"
)

// Landed is a landing of a twin that made After of Before. A branch has it as Commit.
type Landed struct{ Twin, Before, After, Commit string }

// standForParts looks again, with those parts of commits that the tip has, because it has the commits.
func (l *Lands) standForParts(ctx context.Context) error {
	stands := map[string]string{}
	for _, part := range l.parts {
		stands[part.of] = part.id
	}
	return l.standForThere(ctx, stands)
}

// standForAnew looks again, with states whose work the tip has in twins that were made anew of them, see without. In Gone it replaces parts
// of commits by the commits.
func (l *Lands) standForAnew(ctx context.Context) error {
	for _, part := range l.parts {
		if at := slices.Index(l.Gone, part.id); at >= 0 {
			l.Gone[at] = part.of
		}
	}
	if len(l.Once) == 0 {
		return nil
	}
	landed, err := l.store.lines(ctx, l.store.plain, slices.Concat(l.Once, []string{"^" + l.State, "--"})...)
	stands := map[string]string{}
	for _, one := range landed {
		has := l.Has(one.of)
		if err == nil && one.of != "" && !has {
			has, err = l.store.objects.Contains(ctx, one.of, l.State)
		}
		if has {
			stands[one.id] = one.of
		}
	}
	if err != nil {
		return err
	}
	return l.standForThere(ctx, stands)
}

// standForThere looks again. stands says what commits stand for: where the tip has such a commit, it counts as having that part or state, too.
func (l *Lands) standForThere(ctx context.Context, stands map[string]string) error {
	parents := []string{l.Stands}
	for commit, stand := range stands {
		in, err := l.store.objects.Contains(ctx, l.Tip, commit)
		if err != nil {
			return err
		}
		if in {
			parents = append(parents, stand)
		}
	}
	return l.standOn(ctx, parents)
}

// standForLanded looks again, with landings whose commits were made anew. Where the branch has dropped earlier ones, it has only
// the steps that each of them brought.
func (l *Lands) standForLanded(ctx context.Context, found []Landed) error {
	if len(l.Gone) > 0 { // others may have what was left
		found = slices.DeleteFunc(found, func(one Landed) bool { return !l.onTheWay(one.Twin) })
	}
	var twins []string
	brought, whole := map[string]bool{}, map[string]string{}
	for _, one := range found {
		twins = append(twins, one.Twin)
		its, err := l.store.Ahead(ctx, one.Before, one.Twin)
		if err != nil {
			return err
		}
		dropped, err := l.droppedBelow(ctx, one, its[0].Steps)
		if err != nil {
			return err
		}
		for _, step := range its[0].Steps {
			brought[step.To] = !dropped[step.To]
		}
	}
	all, err := l.store.Ahead(ctx, l.Stands, twins...)
	if err != nil {
		return err
	}
	for i, one := range found {
		var lacks []string
		if slices.ContainsFunc(all[i].Steps, func(step Step) bool { return !brought[step.To] }) {
			from, err := l.store.plain.MergeBase(ctx, one.Before, l.Tip)
			if err != nil {
				return err
			}
			if lacks, err = l.store.Lacks(ctx, l.Dir, from, one.After, one.Commit); err != nil {
				return err
			}
		}
		if len(lacks) == 0 {
			whole[one.Twin] = one.Commit
		}
	}
	l.there = brought
	if err = l.standFor(ctx, whole); err == nil {
		l.leaveThere()
	}
	return err
}

// droppedBelow returns the ends of those steps of a landing that the branch had got by hand below it, and has not any more.
func (l *Lands) droppedBelow(ctx context.Context, one Landed, its []Step) (map[string]bool, error) {
	dropped := map[string]bool{}
	if below, err := l.store.plain.MergeBase(ctx, one.Before, l.Tip); below == one.Before || len(its) == 0 || err != nil {
		return dropped, err
	}
	brings, err := l.store.plain.ChangedPaths(ctx, one.Before, one.After)
	if err != nil {
		return nil, err
	}
	lacks, err := l.store.Lacks(ctx, l.Dir, its[0].From, one.Twin, one.Commit)
	if err != nil {
		return nil, err
	}
	for _, step := range its {
		own, err := l.store.Paths(ctx, Ahead{Steps: []Step{step}})
		if err != nil {
			return nil, err
		}
		dropped[step.To] = slices.ContainsFunc(lacks, func(path string) bool { return own[path] && !slices.Contains(brings, path) })
	}
	return dropped, nil
}

// Lacks returns the paths in which a commit has not all of what changed from one commit to another. Files in which the two conflict count as
// there: they were changed since. The attributes in dir apply.
func (s *Store) Lacks(ctx context.Context, dir, from, to, commit string) ([]string, error) {
	merged, err := s.plain.MergeTrees(ctx, dir, from, commit, to)
	if err != nil {
		return nil, err
	}
	lacks, err := s.plain.ChangedPaths(ctx, commit, merged.Tree)
	return slices.DeleteFunc(lacks, func(path string) bool { return slices.Contains(merged.Conflicts, path) }), err
}

// leaveThere takes out the steps that landings brought.
func (l *Lands) leaveThere() {
	all := len(l.Steps)
	l.Steps = slices.DeleteFunc(slices.Clone(l.Steps), func(step Step) bool { return l.there[step.To] })
	l.apart = l.apart || len(l.Steps) < all
}

// standFor notes that commits of the branch stand for states, by twin, and looks again. Where the branch has left something, that is not noted:
// it would say that the branch has what it has left, too. Nor is it where the state has got the commit: the user's git, which merged it, did not know.
func (l *Lands) standFor(ctx context.Context, commits map[string]string) error {
	parents := []string{l.Stands}
	for twin, commit := range commits {
		parents = append(parents, twin)
		for _, step := range l.Steps {
			if step.Instead == twin {
				parents = append(parents, step.To)
			}
		}
		if len(l.Gone) > 0 {
			continue
		}
		got, err := l.store.objects.Contains(ctx, l.State, commit)
		if err == nil && !got {
			err = l.store.Graft(ctx, commit, twin)
		}
		if err != nil {
			return err
		}
	}
	return l.standOn(ctx, parents)
}

// standOn looks again, from a commit with the files of the tip and some more parents.
func (l *Lands) standOn(ctx context.Context, parents []string) (err error) {
	if len(parents) < 2 {
		return nil
	}
	slices.Sort(parents[1:])
	parents = slices.Compact(parents)
	l.Stands, err = l.store.objects.Commit(ctx, objects.NewCommit{Tree: l.Tip + "^{tree}", Parents: parents, Message: "paw: tip\n", Own: true})
	if err != nil {
		return err
	}
	return l.look(ctx)
}
