package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/worktree/git"
	"paw/worktree/gitdir"
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
	if err := checkBranchName(branch); err != nil {
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

// MergedBranches reports for each branch whether into (a commit id, or anything that Head takes)
// has all its commits. MergedBranches starts one git process if a tip differs from into.
func (r Refs) MergedBranches(ctx context.Context, tips map[string]string, into string) (map[string]bool, error) {
	if into == "HEAD" {
		into = cmp.Or(r.headOf(cmp.Or(r.Repository.GitDir, r.Repository.CommonDir)), into)
	}
	if !gitdir.IsOID(into) {
		var err error
		if into, err = r.Head(ctx, into); err != nil {
			return nil, err
		}
	}
	var others []string
	for _, tip := range tips {
		if tip != into && !r.objects.KnowsBefore(tip, into) {
			others = append(others, tip)
		}
	}
	var own []string // commits that into does not have; the tip of an unmerged branch is one of them
	if len(others) > 0 {
		out, err := r.objects.Home().Output(ctx, slices.Concat([]string{"rev-list"}, others, []string{"--not", into, "--"})...)
		if err != nil {
			return nil, err
		}
		own = strings.Fields(out)
	}
	merged := map[string]bool{}
	for branch, tip := range tips {
		merged[branch] = !slices.Contains(own, tip)
	}
	return merged, nil
}

// Tip returns the commit of a branch, "" if there is no branch of exactly this name. Tip starts git
// only if the files of the ref store do not suffice.
func (r Refs) Tip(ctx context.Context, branch string) (string, error) {
	files, err := r.tellsByFiles()
	if err != nil {
		return "", err
	}
	if files {
		return (&gitdir.Refs{CommonDir: r.Repository.CommonDir}).Resolve("refs/heads/" + branch), nil
	}
	tips, err := r.Branches(ctx, []string{branch})
	return tips[branch], err
}

// longestComponent leaves room for ".lock" in a file name of 255 bytes.
const longestComponent = 250

// checkBranchName applies the rules of git-check-ref-format(1) for a branch. checkBranchName also
// refuses names that these allow and nobody means: "@", "refs/heads/x", and names too long for a
// file.
func checkBranchName(name string) error {
	if problem := branchProblem(name); problem != "" {
		return fmt.Errorf("branch name %q: %s", name, problem)
	}
	return nil
}

func branchProblem(name string) string {
	switch {
	case name == "":
		return "empty"
	case name == "@" || name == "HEAD":
		return "reserved by git"
	case strings.HasPrefix(name, "-"):
		return "begins with a dash"
	case strings.HasPrefix(name, "refs/"):
		return "a full ref name, give the branch alone"
	case strings.Contains(name, ".."):
		return "contains .."
	case strings.Contains(name, "@{"):
		return "contains @{"
	case strings.HasSuffix(name, "."):
		return "ends with a dot"
	case strings.ContainsAny(name, " ~^:?*[\\"):
		return "contains a blank or one of ~ ^ : ? * [ \\"
	}
	for i := 0; i < len(name); i++ {
		if name[i] < 0x20 || name[i] == 0x7f {
			return "contains a control character"
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "has an empty part between slashes"
		case strings.HasPrefix(part, "."):
			return "has a part that begins with a dot"
		case strings.HasSuffix(part, ".lock"):
			return "has a part that ends with .lock"
		case len(part) > longestComponent:
			return fmt.Sprintf("has a part longer than %d bytes", longestComponent)
		}
	}
	return ""
}
