package states

import (
	"context"
	"slices"

	"paw/worktree/objects"
)

// Question asks what a landing of a state would make of a branch.
type Question struct {
	Dir        string // directory whose git attributes apply to merges
	Tip, State string // commit of the branch, and the twin of the state
	Onto       string // a commit on top of Tip whose files count as the branch's, "" for Tip

	// Had reports whether the branch has ever had a commit with which a chain begins. If not, the agent began
	// on another branch, whose commits come along. Nil says that it had.
	Had func(ctx context.Context, commit string) (bool, error)

	// Once are twins that have landed once. Landed finds those of them that the tip does not have in the
	// graph and that a commit of it names; nil finds none.
	Once   []string
	Landed func(context.Context, Ahead) ([]Landed, error)
}

// Landed is a landing of a twin that made After of Before. A branch has it as Commit.
type Landed struct{ Twin, Before, After, Commit string }

// Lands is the answer: a tree that has the work of the state and nothing else.
type Lands struct {
	Question
	Ahead
	objects.Merged          // the tree that the branch would have
	Stands         string   // the tip, as a commit that also has the states it was found to stand for
	Whole          Ahead    // Ahead as it was before landings were found by their messages
	Gone           []string // Left as it was then
	Clean          string   // the newest twin that has nothing of Gone, "" for none
	Nothing        bool     // the branch has all of the state

	there map[string]bool // ends of steps that landings brought whose commits were made anew
	apart bool            // some of them are not in Steps, and steps before them are
}

// Lands merges a state with a tip.
//
// Where git finds nothing to merge, or a conflict, or keeps what the state has taken back, the tip may have got the
// state in a way that the chain does not know, as by a merge on a server: the newest state that the tip has whole is
// grafted onto it, unless s writes nothing.
func (s *Store) Lands(ctx context.Context, q Question) (l Lands, err error) {
	l = Lands{Question: q, Stands: q.Tip}
	if err = s.look(ctx, &l); err == nil {
		err = s.standForParts(ctx, &l)
	}
	if l.Whole, l.Gone, l.Clean = l.Ahead, slices.Clone(l.Left), l.clean(); err == nil && len(l.Gone) > 0 {
		err = s.standForAnew(ctx, &l)
	}
	if err == nil {
		err = s.lookAtByHand(ctx, &l)
	}
	if err == nil && q.Landed != nil && len(l.Steps) > 0 {
		var found []Landed
		if found, err = q.Landed(ctx, l.Ahead); err == nil {
			err = s.standForLanded(ctx, &l, found)
		}
	}
	if err == nil {
		err = s.merge(ctx, &l)
	}
	if err != nil || l.None() {
		return l, err
	}
	kept := false
	if len(l.Conflicts) == 0 {
		if kept, err = s.kept(ctx, l); !kept && !l.Nothing || err != nil {
			return l, err
		}
	}
	whole, err := s.whole(ctx, l)
	switch {
	case err != nil:
	case whole != "":
		if err = s.standFor(ctx, &l, map[string]string{whole: q.Tip}); err == nil {
			err = s.merge(ctx, &l)
		}
	case kept:
		err = s.takeBack(ctx, &l)
	}
	return l, err
}

// look finds what the state has that the tip has not.
func (s *Store) look(ctx context.Context, l *Lands) error {
	all, err := s.Ahead(ctx, l.Stands, append([]string{l.State}, l.Once...)...)
	if err != nil && len(l.Once) > 0 { // one of them may be gone
		l.Once = nil
		all, err = s.Ahead(ctx, l.Stands, l.State)
	}
	if err != nil {
		return err
	}
	l.Ahead, l.apart = all[0], false
	l.leaveThere()
	for i, twin := range l.Once {
		if slices.ContainsFunc(l.Steps, func(step Step) bool { return all[i+1].Has(step.To) }) {
			l.Later = append(l.Later, twin)
			if all[i+1].Has(l.State) || all[i+1].whose() == l.whose() {
				l.led = append(l.led, twin)
			}
		}
	}
	if l.Root == "" {
		return nil
	}
	had := true
	if l.Had != nil {
		had, err = l.Had(ctx, l.Root)
	}
	if had || err != nil {
		l.Left = append(l.Left, l.Root)
		return err
	}
	base, err := s.objects.MergeBase(ctx, l.Stands, l.Root)
	if base != "" {
		l.Along = append(l.Along, Step{From: base, To: l.Root})
	}
	return err
}

// standForParts looks again, with those parts of commits that the tip has, because it has the commits.
func (s *Store) standForParts(ctx context.Context, l *Lands) error {
	stands := map[string]string{}
	for _, part := range l.parts {
		stands[part.of] = part.id
	}
	return s.standForThere(ctx, l, stands)
}

// standForAnew looks again, with states whose work the tip has in twins that were made anew of them, see without. In Gone it replaces parts
// of commits by the commits.
func (s *Store) standForAnew(ctx context.Context, l *Lands) error {
	for _, part := range l.parts {
		if at := slices.Index(l.Gone, part.id); at >= 0 {
			l.Gone[at] = part.of
		}
	}
	if len(l.Once) == 0 {
		return nil
	}
	landed, err := s.lines(ctx, s.plain, slices.Concat(l.Once, []string{"^" + l.State, "--"})...)
	stands := map[string]string{}
	for _, one := range landed {
		has := l.Has(one.of)
		if err == nil && one.of != "" && !has {
			has, err = s.objects.Contains(ctx, one.of, l.State)
		}
		if has {
			stands[one.id] = one.of
		}
	}
	if err != nil {
		return err
	}
	return s.standForThere(ctx, l, stands)
}

// standForThere looks again. stands says what commits stand for: where the tip has such a commit, it counts as having that part or state, too.
func (s *Store) standForThere(ctx context.Context, l *Lands, stands map[string]string) error {
	parents := []string{l.Stands}
	for commit, stand := range stands {
		in, err := s.objects.Contains(ctx, l.Tip, commit)
		if err != nil {
			return err
		}
		if in {
			parents = append(parents, stand)
		}
	}
	return s.standOn(ctx, l, parents)
}

// standFor notes that commits of the branch stand for states, by twin, and looks again. Where the branch has left something, that is not noted:
// it would say that the branch has what it has left, too. Nor is it where the state has got the commit: the user's git, which merged it, did not know.
func (s *Store) standFor(ctx context.Context, l *Lands, commits map[string]string) error {
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
		got, err := s.objects.Contains(ctx, l.State, commit)
		if err == nil && !got {
			err = s.Graft(ctx, commit, twin)
		}
		if err != nil {
			return err
		}
	}
	return s.standOn(ctx, l, parents)
}

// standForLanded looks again, with landings whose commits were made anew. Where the branch has dropped earlier ones, it has only
// the steps that each of them brought.
func (s *Store) standForLanded(ctx context.Context, l *Lands, found []Landed) error {
	if len(l.Gone) > 0 { // others may have what was left
		found = slices.DeleteFunc(found, func(one Landed) bool { return !l.onTheWay(one.Twin) })
	}
	var twins []string
	brought, whole := map[string]bool{}, map[string]string{}
	for _, one := range found {
		twins = append(twins, one.Twin)
		its, err := s.Ahead(ctx, one.Before, one.Twin)
		if err != nil {
			return err
		}
		for _, step := range its[0].Steps {
			brought[step.To] = true
		}
	}
	all, err := s.Ahead(ctx, l.Stands, twins...)
	if err != nil {
		return err
	}
	for i, one := range found {
		var lacks []string
		if slices.ContainsFunc(all[i].Steps, func(step Step) bool { return !brought[step.To] }) {
			from, err := s.plain.MergeBase(ctx, one.Before, l.Tip)
			if err != nil {
				return err
			}
			if lacks, err = s.Lacks(ctx, l.Dir, from, one.After, one.Commit); err != nil {
				return err
			}
		}
		if len(lacks) == 0 {
			whole[one.Twin] = one.Commit
		}
	}
	l.there = brought
	if err = s.standFor(ctx, l, whole); err == nil {
		l.leaveThere()
	}
	return err
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
	l.Steps = slices.DeleteFunc(l.Steps, func(step Step) bool { return l.there[step.To] })
	l.apart = l.apart || len(l.Steps) < all
}

// standOn looks again, from a commit with the files of the tip and some more parents.
func (s *Store) standOn(ctx context.Context, l *Lands, parents []string) (err error) {
	if len(parents) < 2 {
		return nil
	}
	slices.Sort(parents[1:])
	parents = slices.Compact(parents)
	l.Stands, err = s.objects.Commit(ctx, objects.NewCommit{Tree: l.Tip + "^{tree}", Parents: parents, Message: "paw: tip\n", Own: true})
	if err != nil {
		return err
	}
	return s.look(ctx, l)
}

// merge merges the state with the branch. If the branch does not have any more what the chain has got,
// git's merge would bring that along: then only the steps that are work are merged.
func (s *Store) merge(ctx context.Context, l *Lands) (err error) {
	onto := l.Stands
	if l.Onto != "" && l.Onto != l.Tip {
		onto, err = s.objects.Commit(ctx, objects.NewCommit{Tree: l.Onto + "^{tree}", Parents: []string{l.Stands}, Message: "paw: tip\n", Own: true})
	}
	switch l.Merged = (objects.Merged{}); {
	case err != nil:
	case len(l.Steps) == 0 && (l.Root == "" || len(l.Left) > 0):
		l.Tree, err = s.objects.TreeOf(ctx, onto)
	case len(l.Left) == 0 && !l.apart && onto == l.Stands && s.follows(l):
		l.Tree, err = s.objects.TreeOf(ctx, l.State)
	case len(l.Left) == 0 && !l.apart:
		if l.Merged, err = s.objects.MergeTree(ctx, l.Dir, onto, l.State); err == nil {
			err = s.keepForeign(ctx, l, onto)
		}
	default:
		l.Merged, err = s.steps(ctx, l, onto)
	}
	if err != nil || len(l.Conflicts) > 0 {
		return err
	}
	if l.Nothing = l.None() && (l.Onto == "" || l.Onto == l.Tip); l.Nothing {
		return nil
	}
	changes, err := s.objects.ChangesBetween(ctx, l.Tip, l.Tree)
	l.Nothing = len(changes) == 0
	return err
}

// keepForeign resolves conflicts in files that no work has changed: the branch keeps them as they are.
func (s *Store) keepForeign(ctx context.Context, l *Lands, onto string) error {
	if len(l.Conflicts) == 0 {
		return nil
	}
	own, err := s.Paths(ctx, l.Ahead)
	if err != nil {
		return err
	}
	foreign, err := s.beyondWork(ctx, *l, own, l.Conflicts)
	foreign = slices.DeleteFunc(foreign, func(path string) bool { return slices.Contains(l.Places, path) })
	if len(foreign) == 0 || err != nil {
		return err
	}
	l.Conflicts = slices.DeleteFunc(l.Conflicts, func(path string) bool { return slices.Contains(foreign, path) })
	l.Tree, err = s.objects.TreeWith(ctx, l.Tree, onto, foreign)
	return err
}

// follows reports whether the branch has the files with which the work begins, and nothing else has come along: then
// the merge has the files of the state, and git need not be asked.
func (s *Store) follows(l *Lands) bool {
	tree := s.objects.Known(l.Tip)
	return tree != "" && l.Root == "" && len(l.Steps) > 0 && s.objects.Known(l.Steps[0].From) == tree &&
		!slices.ContainsFunc(l.Steps, func(one Step) bool { return one.Got != "" })
}

// kept reports whether the branch stays different from the state in a path that several steps have changed: an
// earlier one may have come to the branch by hand, and a later one have taken it back.
func (s *Store) kept(ctx context.Context, l Lands) (bool, error) {
	if len(l.Steps) < 2 || len(l.Left) > 0 || s.follows(&l) {
		return false, nil
	}
	differ, err := s.objects.ChangedPaths(ctx, l.Tree, l.State)
	if len(differ) == 0 || err != nil {
		return false, err
	}
	changed, err := s.objects.ChangedPaths(ctx, l.Tip, l.Tree)
	if err != nil {
		return false, err
	}
	own, err := s.Paths(ctx, l.Ahead)
	return slices.ContainsFunc(differ, func(path string) bool { return own[path] && !slices.Contains(changed, path) }), err
}

// takeBack merges the steps since the newest commit that was got one after the other: one may have taken back what an earlier one had
// changed, and the branch has by a commit that was picked by hand. Where that conflicts, the merge stays as it is.
func (s *Store) takeBack(ctx context.Context, l *Lands) error {
	since := l.Steps
	for i, step := range l.Steps {
		if step.Got != "" {
			since = l.Steps[i+1:]
		}
	}
	if len(since) < 2 || l.Onto != "" && l.Onto != l.Tip {
		return nil
	}
	from := since[0].From
	own, err := s.Paths(ctx, Ahead{Steps: since})
	if err != nil {
		return err
	}
	differ, err := s.objects.ChangedPaths(ctx, l.Tree, l.State)
	if err != nil || !slices.ContainsFunc(differ, func(path string) bool { return own[path] }) {
		return err
	}
	merged, err := s.objects.MergeTree(ctx, l.Dir, l.Stands, from)
	if err != nil || len(merged.Conflicts) > 0 {
		return err
	}
	later := *l
	later.Steps = since
	if merged, err = s.steps(ctx, &later, merged.Tree); err != nil || len(merged.Conflicts) > 0 {
		return err
	}
	l.Merged = merged
	changes, err := s.objects.ChangesBetween(ctx, l.Tip, l.Tree)
	l.Nothing = len(changes) == 0
	return err
}

// whole returns the newest state on the way to the one that is asked about that the tip has whole: to merge it changes
// nothing. A state that has put a path back as it was, while the tip has the path changed, is not one
// of them. The result is "" for none.
func (s *Store) whole(ctx context.Context, l Lands) (string, error) {
	if len(l.Left) > 0 {
		return "", nil
	}
	var twins []string
	var pairs [][2]string
	for _, step := range slices.Backward(l.Steps) {
		for _, twin := range []string{step.To, step.Made} {
			if twin != "" && !slices.Contains(twins, twin) {
				twins, pairs = append(twins, twin), append(pairs, [2]string{l.Stands, twin})
			}
		}
	}
	merged, err := s.objects.MergePairs(ctx, l.Dir, pairs)
	if err != nil {
		return "", err
	}
	tree, err := s.objects.TreeOf(ctx, l.Tip)
	for i, twin := range twins {
		if err != nil {
			return "", err
		}
		if len(merged[i].Conflicts) > 0 || merged[i].Tree != tree {
			continue
		}
		var back bool
		if back, err = s.putBack(ctx, l, twin); err == nil && !back {
			return twin, nil
		}
	}
	return "", err
}

// putBack reports whether the steps to a twin have changed a path and put it back as it was before,
// while the tip has it changed.
func (s *Store) putBack(ctx context.Context, l Lands, twin string) (bool, error) {
	base, err := s.objects.MergeBase(ctx, l.Stands, twin)
	if err != nil || base == "" {
		return true, err
	}
	to := l.Ahead
	to.Steps = to.Steps[:slices.IndexFunc(to.Steps, func(one Step) bool { return one.To == twin || one.Made == twin })+1]
	own, err := s.Paths(ctx, to)
	if err != nil {
		return true, err
	}
	kept, err := s.objects.ChangedPaths(ctx, base, twin)
	if err != nil {
		return true, err
	}
	for _, path := range kept {
		delete(own, path)
	}
	there, err := s.objects.ChangedPaths(ctx, base, l.Tip)
	return slices.ContainsFunc(there, func(path string) bool { return own[path] }), err
}

// Paths returns the paths that work has changed, if only in a commit, and those in which what was got was merged with it.
func (s *Store) Paths(ctx context.Context, a Ahead) (map[string]bool, error) {
	var pairs, joins [][2]string
	for _, step := range slices.Concat(a.Steps, a.Along) {
		if step.Made != "" && step.Made != step.To {
			pairs = append(pairs, [2]string{step.Made, step.To})
		}
		if step.Got == "" {
			pairs = append(pairs, [2]string{step.From, step.To})
		} else {
			joins = append(joins, [2]string{step.From, step.To}, [2]string{step.Got, step.To})
		}
	}
	work := len(pairs)
	pairs = append(pairs, joins...)
	changes, err := s.objects.PathsOf(ctx, pairs)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for i, paths := range changes {
		for path := range paths {
			if i < work || (i-work)%2 == 0 && changes[i+1][path] { // work, or it differs from both sides of a merge
				own[path] = true
			}
		}
	}
	return own, nil
}
