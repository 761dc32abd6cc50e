package startplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Handed is the uncommitted work in a checkout of the user with which new agents begin.
type Handed struct {
	place  string // path of the checkout
	head   string // HEAD of the checkout
	commit string // commit with the uncommitted work, equal to head where there is none
	files  int
	notes  []string
}

// HandOver takes the uncommitted work of the user's current checkout. It changes neither the
// checkout nor its index and stashes. It refuses work that cannot be taken completely, and a base
// that the user gave. The commit has no ref yet: a refused start leaves nothing, and a dry run does
// not even leave the commit.
func HandOver(ctx context.Context, m worktree.Manager, base string, dryRun bool) (*Handed, error) {
	if base != "" {
		return nil, errs.New(errs.Usage, "--with-changes begins at HEAD of the checkout, not at %s", base)
	}
	if dryRun {
		reader, drop, err := m.WithScratch()
		if err != nil {
			return nil, err
		}
		defer drop()
		m = reader
	}
	place := cmp.Or(m.Repository.Worktree, m.Repository.Path)
	if place == "" {
		return nil, errs.New(errs.Usage, "--with-changes: there is no checkout here")
	}
	at, err := m.Registry().CheckoutAt(ctx, place)
	if err != nil || at == nil {
		return nil, errors.Join(err, missing(at, place))
	}
	shot, err := m.Snapshots().TakeOf(ctx, *at, "paw: not committed in "+place+"\n")
	look := "git -C " + errs.Quote(place) + " status"
	var conflict *git.ConflictError
	switch {
	case errors.As(err, &conflict):
		return nil, errs.New(errs.Refused, "%w", err).Hint("%s", look)
	case err != nil:
		return nil, err
	case shot.Unmerged:
		return nil, errs.New(errs.Refused, "%s: a conflict is not resolved there", place).Hint("%s", look)
	case len(shot.Submodules) > 0:
		return nil, errs.New(errs.Refused, "%s: the submodule %s has changes, which cannot be handed over", place, shot.Submodules[0]).Hint("%s", look)
	case shot.Cause != nil:
		return nil, app.Unfiltered(errs.New(errs.Refused, "%s: cannot be handed over as it is: %s: %w", place, strings.Join(shot.NotSaved, ", "), shot.Cause), look)
	}
	handed := &Handed{place: place, head: cmp.Or(shot.Head, shot.Commit), commit: shot.Commit}
	for _, path := range shot.NotSaved {
		handed.notes = append(handed.notes, path+" is not in the new worktrees: it is a repository of its own")
	}
	paths, err := m.Objects().ChangedPaths(ctx, handed.head, handed.commit)
	handed.files = len(paths)
	return handed, err
}

func missing(at *gitdir.Checkout, place string) error {
	if at == nil {
		return errs.New(errs.Usage, "--with-changes: %s is no checkout of this repository", place)
	}
	return nil
}

// base returns the commit at which agents begin, "" without a hand-over.
func (h *Handed) base() string {
	if h == nil {
		return ""
	}
	return h.head
}

// giveTo makes new agents begin with the uncommitted work.
func (h *Handed) giveTo(agents []session.Agent) error {
	for i := range agents {
		w := &agents[i]
		switch {
		case h == nil:
			return nil
		case !w.BranchCreated:
			return errs.New(errs.Usage, "branch %s: exists already, and --with-changes makes a new one", w.Branch)
		case h.files > 0:
			w.From = &session.Origin{Snapshot: h.commit}
		}
	}
	return nil
}

// Steps describes the hand-over for a dry run.
func (h *Handed) Steps() []string {
	if h == nil || h.files == 0 {
		return nil
	}
	return []string{fmt.Sprintf("hand over what is not committed in %s: %s", h.place, errs.Counted(h.files, "file"))}
}

// Told returns notes about the hand-over for the user.
func (h *Handed) Told() []string {
	if h == nil {
		return nil
	}
	if h.files == 0 {
		return append(slices.Clone(h.notes), "nothing is uncommitted in "+h.place)
	}
	return append(slices.Clone(h.notes), fmt.Sprintf("%s of %s came along", errs.Counted(h.files, "uncommitted file"), h.place))
}
