package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/gitdir"
)

// Matching returns the refs that match a for-each-ref pattern without a final slash, with their
// ids. Matching starts git only if the files of the ref store do not suffice.
func (r Refs) Matching(ctx context.Context, pattern string) (map[string]string, error) {
	if found, ok, err := gitdir.MatchRefs(r.Repository.CommonDir, pattern); ok || err != nil {
		return found, err
	}
	return r.list(ctx, pattern)
}

// PastTip is one entry of a branch's reflog: the commit before, the commit after, and the message.
type PastTip struct{ Was, Commit, Why string }

// PastTips returns the reflog of a branch, oldest first; none for a branch without one, and for "".
func (r Refs) PastTips(branch string) ([]PastTip, error) {
	if branch == "" {
		return nil, nil
	}
	log, err := os.ReadFile(filepath.Join(r.Repository.CommonDir, "logs", "refs", "heads", filepath.FromSlash(branch)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var tips []PastTip
	for line := range bytes.Lines(log) {
		head, why, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		ids := strings.Fields(head)
		if len(ids) > 1 && gitdir.IsOID(ids[1]) && strings.Trim(ids[1], "0") != "" {
			tips = append(tips, PastTip{ids[0], ids[1], why})
		}
	}
	return tips, err
}

// Reached returns the branch that has reached a commit to which branch was to be moved: branch
// itself, however far it went on, or, if branch no longer exists, another one that has the commit,
// as after a rename. The result is "" if none has.
func (r Refs) Reached(ctx context.Context, branch, commit string) (string, error) {
	tip, err := r.Tip(ctx, branch)
	if err != nil {
		return "", err
	}
	if tip != "" {
		if there, err := r.objects.Contains(ctx, tip, commit); !there || err != nil {
			return "", err
		}
		return branch, nil
	}
	for _, which := range []string{"--points-at=", "--contains="} {
		name, err := r.objects.Home().Line(ctx, "for-each-ref", "--count=1", which+commit, "--format=%(refname:lstrip=2)", "refs/heads")
		if name != "" || err != nil {
			return name, err
		}
	}
	return "", nil
}

// BranchesWithout returns which of the named branches exist and do not contain a commit.
func (r Refs) BranchesWithout(ctx context.Context, commit string, branches []string) ([]string, error) {
	args := []string{"for-each-ref", "--format=%(refname)", "--no-contains=" + commit}
	for _, branch := range branches {
		args = append(args, "refs/heads/"+branch)
	}
	if len(branches) == 0 {
		return nil, nil
	}
	out, err := r.objects.Home().Output(ctx, args...)
	if err != nil {
		return nil, err
	}
	var found []string
	for ref := range strings.Lines(out) {
		if name := strings.TrimPrefix(strings.TrimSuffix(ref, "\n"), "refs/heads/"); slices.Contains(branches, name) {
			found = append(found, name)
		}
	}
	return found, nil
}

// Containing returns the full names of branches, remote-tracking branches and tags that contain a
// commit.
func (r Refs) Containing(ctx context.Context, commit string) ([]string, error) {
	out, err := r.objects.Home().Output(ctx, "for-each-ref", "--contains="+commit, "--format=%(refname)", "refs/heads/", "refs/remotes/", "refs/tags/")
	return strings.Fields(out), err
}
