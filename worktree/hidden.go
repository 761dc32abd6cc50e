package worktree

import (
	"context"
	"path/filepath"
	"slices"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/objects"
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
func hiddenOf(l *look, changes []objects.Change) hidden {
	h := hidden{gone: map[string]bool{}}
	for _, c := range changes {
		h.gone[c.Name] = c.Gone
		if _, is := slices.BinarySearch(l.real.Assumed, c.Name); is {
			h.assumed = append(h.assumed, c.Name)
		}
		if _, is := slices.BinarySearch(l.real.Skipped, c.Name); is {
			h.skipped = append(h.skipped, c.Name)
			if !disk.Exists(filepath.Join(l.top, filepath.FromSlash(c.Name))) {
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
	if err := updateBits(ctx, repo, "--no-assume-unchanged", h.assumed, "--no-skip-worktree", there); err != nil {
		return err
	}
	if err := refresh(ctx, repo); err != nil {
		return err
	}
	return updateBits(ctx, repo, "--assume-unchanged", h.assumed, "--skip-worktree", there)
}

// mark sets the bits again on the entries that still exist.
func (h hidden) mark(ctx context.Context, repo git.Repo) error {
	return updateBits(ctx, repo, "--assume-unchanged", h.staying(h.assumed), "--skip-worktree", h.staying(h.skipped))
}

// staying returns the paths that still exist after the move.
func (h hidden) staying(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return h.gone[name] })
}

func updateBits(ctx context.Context, repo git.Repo, assume string, assumed []string, skip string, skipped []string) error {
	for _, one := range []struct {
		bit   string
		names []string
	}{{assume, assumed}, {skip, skipped}} {
		if len(one.names) == 0 {
			continue
		}
		if _, err := repo.Input(ctx, git.NulTerminated(one.names), git.Quietly("update-index", one.bit, "-z", "--stdin")...); err != nil {
			return err
		}
	}
	return nil
}
