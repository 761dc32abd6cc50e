package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// hidden lists the paths of a move for which the index does not say whether the file has changed: the
// entry has a bit that hides that, or git's conversion makes the file differ.
type hidden struct {
	assumed []string // paths with the bit assume-unchanged
	skipped []string // paths with the bit skip-worktree
	absent  []string // skipped paths without a file
	gone    map[string]bool

	untouched map[string]string // files that only a conversion makes differ -> snapshot.BlobID
}

// hiddenOf returns the hidden paths among changes.
func hiddenOf(l *snapshot.Look, changes []objects.Change) hidden {
	h := hidden{gone: map[string]bool{}, untouched: map[string]string{}}
	for _, c := range changes {
		if id := l.Untouched[c.Name]; id != "" {
			h.untouched[c.Name] = id
		}
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

// show clears the bits of hidden files in an index and refreshes it: git would take a file rewritten
// with the same content for changed. Files that are absent stay hidden.
func (h hidden) show(ctx context.Context, repo git.Repo) error {
	there := slices.DeleteFunc(slices.Clone(h.skipped), func(name string) bool { return slices.Contains(h.absent, name) })
	if len(h.assumed)+len(there) == 0 {
		return nil
	}
	if err := snapshot.UpdateBits(ctx, repo, "--no-assume-unchanged", h.assumed, "--no-skip-worktree", there); err != nil {
		return err
	}
	return snapshot.Refresh(ctx, repo)
}

// clear removes the files that only a conversion makes differ, so that git writes them anew: git would
// refuse to overwrite them. A file that has changed since stays.
func (h hidden) clear(ctx context.Context, top string) error {
	for name, id := range h.untouched {
		path := filepath.Join(top, filepath.FromSlash(name))
		if snapshot.BlobID(ctx, path, len(id)/2) != id {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// mark sets the bits again on the entries that still exist.
func (h hidden) mark(ctx context.Context, repo git.Repo) error {
	return snapshot.UpdateBits(ctx, repo, "--assume-unchanged", h.staying(h.assumed), "--skip-worktree", h.staying(h.skipped))
}

// staying returns the paths that still exist after the move.
func (h hidden) staying(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return h.gone[name] })
}
