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

	store *Store
	there map[string]bool // ends of steps that landings brought whose commits were made anew
	apart bool            // some of them are not in Steps, and steps before them are
}

// Lands merges a state with a tip.
//
// Where git finds nothing to merge, or a conflict, or keeps what the state has taken back, the tip may have got the
// state in a way that the chain does not know, as by a merge on a server: the newest state that the tip has whole is
// grafted onto it, unless s writes nothing.
func (s *Store) Lands(ctx context.Context, q Question) (l Lands, err error) {
	l = Lands{Question: q, Stands: q.Tip, store: s}
	if err = l.look(ctx); err == nil {
		err = l.standForParts(ctx)
	}
	if l.Whole, l.Gone, l.Clean = l.Ahead, slices.Clone(l.Left), l.clean(); err == nil && len(l.Gone) > 0 {
		err = l.standForAnew(ctx)
	}
	if err == nil {
		err = l.lookAtByHand(ctx)
	}
	if err == nil && q.Landed != nil && len(l.Steps) > 0 {
		var found []Landed
		if found, err = q.Landed(ctx, l.Ahead); err == nil {
			err = l.standForLanded(ctx, found)
		}
	}
	if err == nil {
		err = l.merge(ctx)
	}
	if err != nil || l.None() {
		return l, err
	}
	kept := false
	if len(l.Conflicts) == 0 {
		if kept, err = l.kept(ctx); !kept && !l.Nothing || err != nil {
			return l, err
		}
	}
	whole, err := l.whole(ctx)
	switch {
	case err != nil:
	case whole != "":
		if err = l.standFor(ctx, map[string]string{whole: q.Tip}); err == nil {
			err = l.merge(ctx)
		}
	case kept:
		err = l.takeBack(ctx)
	}
	return l, err
}

// look finds what the state has that the tip has not.
func (l *Lands) look(ctx context.Context) error {
	all, err := l.store.Ahead(ctx, l.Stands, append([]string{l.State}, l.Once...)...)
	if err != nil && len(l.Once) > 0 { // one of them may be gone
		l.Once = nil
		all, err = l.store.Ahead(ctx, l.Stands, l.State)
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
	base, err := l.store.objects.MergeBase(ctx, l.Stands, l.Root)
	if base != "" {
		l.Along = append(l.Along, Step{From: base, To: l.Root})
	}
	return err
}

// merge merges the state with the branch. If the branch does not have any more what the chain has got,
// git's merge would bring that along: then only the steps that are work are merged.
func (l *Lands) merge(ctx context.Context) (err error) {
	onto := l.Stands
	if l.Onto != "" && l.Onto != l.Tip {
		onto, err = l.store.objects.Commit(ctx, objects.NewCommit{Tree: l.Onto + "^{tree}", Parents: []string{l.Stands}, Message: "paw: tip\n", Own: true})
	}
	switch l.Merged = (objects.Merged{}); {
	case err != nil:
	case len(l.Steps) == 0 && (l.Root == "" || len(l.Left) > 0):
		l.Tree, err = l.store.objects.TreeOf(ctx, onto)
	case len(l.Left) == 0 && !l.apart && onto == l.Stands && l.follows():
		l.Tree, err = l.store.objects.TreeOf(ctx, l.State)
	case len(l.Left) == 0 && !l.apart:
		if l.Merged, err = l.store.objects.MergeTree(ctx, l.Dir, onto, l.State); err == nil {
			err = l.keepForeign(ctx, onto)
		}
	default:
		l.Merged, err = l.steps(ctx, onto)
	}
	if err != nil || len(l.Conflicts) > 0 {
		return err
	}
	if l.Nothing = l.None() && (l.Onto == "" || l.Onto == l.Tip); l.Nothing {
		return nil
	}
	changes, err := l.store.objects.ChangesBetween(ctx, l.Tip, l.Tree)
	l.Nothing = len(changes) == 0
	return err
}

// keepForeign resolves conflicts in files that no work has changed: the branch keeps them as they are.
func (l *Lands) keepForeign(ctx context.Context, onto string) error {
	if len(l.Conflicts) == 0 {
		return nil
	}
	own, err := l.store.Paths(ctx, l.Ahead)
	if err != nil {
		return err
	}
	foreign, err := l.store.beyondWork(ctx, *l, own, l.Conflicts)
	foreign = slices.DeleteFunc(foreign, func(path string) bool { return slices.Contains(l.Places, path) })
	if len(foreign) == 0 || err != nil {
		return err
	}
	l.Conflicts = slices.DeleteFunc(l.Conflicts, func(path string) bool { return slices.Contains(foreign, path) })
	l.Tree, err = l.store.objects.TreeWith(ctx, l.Tree, onto, foreign)
	return err
}

// follows reports whether the branch has the files with which the work begins, and nothing else has come along: then
// the merge has the files of the state, and git need not be asked.
func (l *Lands) follows() bool {
	tree := l.store.objects.Known(l.Tip)
	return tree != "" && l.Root == "" && len(l.Steps) > 0 && l.store.objects.Known(l.Steps[0].From) == tree &&
		!slices.ContainsFunc(l.Steps, func(one Step) bool { return one.Got != "" })
}

// Paths returns the paths that work has changed, if only in a commit, and those in which what was got was merged with it.
func (s *Store) Paths(ctx context.Context, a Ahead) (map[string]bool, error) {
	own := map[string]bool{}
	changed, err := s.changed(ctx, a)
	for path := range changed {
		own[path] = true
	}
	return own, err
}

// changed returns how often work has changed each of its paths.
func (s *Store) changed(ctx context.Context, a Ahead) (map[string]int, error) {
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
	often := map[string]int{}
	for i, paths := range changes {
		for path := range paths {
			if i < work || (i-work)%2 == 0 && changes[i+1][path] { // work, or it differs from both sides of a merge
				often[path]++
			}
		}
	}
	return often, nil
}
