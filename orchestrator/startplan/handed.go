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
)

// Handed is what is not committed in a checkout of the user's when new agents begin with it.
type Handed struct {
	place  string // the checkout
	head   string // commit that it was at
	commit string // with what is not committed; the head itself where nothing is
	files  int
	notes  []string
}

// HandOver takes what is not committed in the checkout that one stands in. The checkout, its index and its stashes stay as they are; what
// cannot be taken whole is refused, and so is a base of the user's own. The commit has no ref yet: a refused start leaves nothing, and a
// dry run does not even leave the commit.
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
	var conflict *worktree.ConflictError
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

func missing(at *worktree.Checkout, place string) error {
	if at == nil {
		return errs.New(errs.Usage, "--with-changes: %s is no checkout of this repository", place)
	}
	return nil
}

// base is the commit that agents begin at, "" without a hand-over.
func (h *Handed) base() string {
	if h == nil {
		return ""
	}
	return h.head
}

// giveTo lets new agents begin with what was taken.
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

// Steps says what is handed over.
func (h *Handed) Steps() []string {
	if h == nil || h.files == 0 {
		return nil
	}
	return []string{fmt.Sprintf("hand over what is not committed in %s: %s", h.place, errs.Counted(h.files, "file"))}
}

// Told is what the user would otherwise miss.
func (h *Handed) Told() []string {
	if h == nil {
		return nil
	}
	if h.files == 0 {
		return append(slices.Clone(h.notes), "nothing is uncommitted in "+h.place)
	}
	return append(slices.Clone(h.notes), fmt.Sprintf("%s of %s came along", errs.Counted(h.files, "uncommitted file"), h.place))
}
