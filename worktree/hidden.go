package worktree

import (
	"context"
	"path/filepath"
	"slices"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// hidden lists the paths of a move whose index entries have a bit that hides the file's changes
// from git.
type hidden struct {
	assumed []string // paths with the bit assume-unchanged
	skipped []string // paths with the bit skip-worktree
	absent  []string // skipped paths without a file
	gone    map[string]bool

	refreshed string // copy of the index just refreshed by git, "" for none
}

// hiddenOf returns the hidden paths among changes.
func hiddenOf(l *snapshot.Look, changes []objects.Change) hidden {
	h := hidden{gone: map[string]bool{}}
	for _, c := range changes {
		h.gone[c.Name] = c.Gone
		if _, is := slices.BinarySearch(l.Real.Assumed, c.Name); is {
			h.assumed = append(h.assumed, c.Name)
		}
		if _, is := slices.BinarySearch(l.Real.Skipped, c.Name); is {
			h.skipped = append(h.skipped, c.Name)
			if !disk.Exists(filepath.Join(l.Top, filepath.FromSlash(c.Name))) {
				h.absent = append(h.absent, c.Name)
			}
		}
	}
	return h
}

// refresh refreshes an index, including hidden files: git would take a file rewritten with the same
// content for changed.
func (h hidden) refresh(ctx context.Context, repo git.Repo) error {
	there := slices.DeleteFunc(slices.Clone(h.skipped), func(name string) bool { return slices.Contains(h.absent, name) })
	if err := snapshot.UpdateBits(ctx, repo, "--no-assume-unchanged", h.assumed, "--no-skip-worktree", there); err != nil {
		return err
	}
	if err := snapshot.Refresh(ctx, repo); err != nil {
		return err
	}
	return snapshot.UpdateBits(ctx, repo, "--assume-unchanged", h.assumed, "--skip-worktree", there)
}

// mark sets the bits again on the entries that still exist.
func (h hidden) mark(ctx context.Context, repo git.Repo) error {
	return snapshot.UpdateBits(ctx, repo, "--assume-unchanged", h.staying(h.assumed), "--skip-worktree", h.staying(h.skipped))
}

// staying returns the paths that still exist after the move.
func (h hidden) staying(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return h.gone[name] })
}
