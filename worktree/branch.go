package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"paw/worktree/git"
	"paw/worktree/refs"
)

// ErrNotMerged says that a branch has commits which the other branch has not.
var ErrNotMerged = errors.New("not merged")

// DeleteBranches deletes the branches that are still at their commit in expect, and whose commits
// into has: a commit id, or anything that Head takes. DeleteBranches returns why others stay:
// ErrNotMerged, or a *ConflictError for a branch that is checked out or has moved. A missing branch
// counts as deleted. DeleteBranches starts one git process, or two if a tip differs from into.
func (m Manager) DeleteBranches(ctx context.Context, expect map[string]string, into string) (stay map[string]error) {
	stay = map[string]error{}
	all := func(err error) map[string]error {
		for branch := range expect {
			stay[branch] = err
		}
		return stay
	}
	if len(expect) == 0 {
		return stay
	}
	merged, err := m.Refs().MergedBranches(ctx, expect, into)
	if err != nil {
		return all(err)
	}
	x, err := m.Registry().exclude(ctx)
	if err != nil {
		return all(err)
	}
	defer x.release()
	holders, err := m.Registry().Holders(ctx)
	if err != nil {
		return all(err)
	}
	var doomed []string
	for branch, tip := range expect {
		there, err := m.deletable(ctx, branch, tip, merged[branch], holders[branch])
		if err != nil {
			stay[branch] = err
		} else if there {
			doomed = append(doomed, branch)
		}
	}
	remove := func(branches []string) error {
		if len(branches) == 0 {
			return nil
		}
		var input strings.Builder
		for _, branch := range branches {
			fmt.Fprintf(&input, "delete refs/heads/%s\x00%s\x00", branch, expect[branch])
		}
		_, err := m.Objects().Home().WithFile(x.file).Input(ctx, []byte(input.String()), "update-ref", "-z", "--stdin")
		return err
	}
	if remove(doomed) == nil {
		return stay
	}
	for _, branch := range doomed { // One of the branches has made git refuse all.
		if err := remove([]string{branch}); err != nil {
			stay[branch] = err
		}
	}
	return stay
}

// deletable returns an error for a branch that must not be deleted. there is false for a missing
// branch.
func (m Manager) deletable(ctx context.Context, branch, expect string, merged bool, holder string) (there bool, err error) {
	if err := refs.CheckBranchName(branch); err != nil {
		return false, err
	}
	tip, err := m.Refs().Tip(ctx, branch)
	if tip == "" || err != nil {
		return false, err
	}
	if !merged {
		return true, ErrNotMerged
	}
	if tip != expect {
		return true, git.Conflict("", "", "branch %s: moved on to %s", branch, tip)
	}
	if holder != "" {
		return true, git.Conflict("", "", "branch %s: checked out at %s", branch, holder)
	}
	return true, nil
}
