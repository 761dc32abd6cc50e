package refs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/disk"
	"paw/config/lazyregexp"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// MergedBranches reports for each branch that is still at its tip whether into (a commit id, or anything
// that Head takes) has all its commits. MergedBranches starts one git process if a tip differs from into.
func (r *Store) MergedBranches(ctx context.Context, tips map[string]string, into string) (map[string]bool, error) {
	if into == "HEAD" {
		into = cmp.Or(r.HeadOf(cmp.Or(r.Repository.GitDir, r.Repository.CommonDir)), into)
	}
	if !gitdir.IsOID(into) {
		var err error
		if into, err = r.Head(ctx, into); err != nil {
			return nil, err
		}
	}
	merged, asks := map[string]bool{}, []string{"--merged=" + into}
	for branch, tip := range tips {
		if merged[branch] = tip == into || r.objects.KnowsBefore(tip, into); !merged[branch] {
			asks = append(asks, "refs/heads/"+branch)
		}
	}
	if len(asks) == 1 {
		return merged, nil
	}
	listed, err := r.list(ctx, asks...)
	for branch, tip := range tips {
		merged[branch] = merged[branch] || listed["refs/heads/"+branch] == tip && tip != ""
	}
	return merged, err
}

// Tip returns the commit of a branch, "" if there is no branch of exactly this name.
func (r *Store) Tip(ctx context.Context, branch string) (string, error) {
	found, err := r.List(ctx, "refs/heads/"+branch)
	return found["refs/heads/"+branch], err
}

// Branches returns which of these branches exist, with their commit ids.
func (r *Store) Branches(ctx context.Context, names []string) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := r.BranchesAt(ctx, names)
	maps.DeleteFunc(found, func(name, _ string) bool { return !slices.Contains(names, name) })
	return found, err
}

// BranchesAt lists branches with these names or below them ("a" also finds "a/b"); names match in
// any case if the file system ignores case.
func (r *Store) BranchesAt(ctx context.Context, names []string) (map[string]string, error) {
	cfg, err := gitdir.ReadCore(r.Repository.CommonDir)
	if err != nil {
		return nil, err
	}
	refs := make([]string, len(names))
	for i, name := range names {
		refs[i] = "refs/heads/" + name
	}
	var listed map[string]string
	if cfg.IgnoreCase {
		listed, err = r.list(ctx, append([]string{"--ignore-case"}, refs...)...)
	} else {
		listed, err = r.List(ctx, refs...)
	}
	found := map[string]string{}
	for ref, oid := range listed {
		branch := strings.TrimPrefix(ref, "refs/heads/")
		near := func(name string) bool { return branch == name || disk.Inside(branch, name, "/") }
		if cfg.IgnoreCase || slices.ContainsFunc(names, near) {
			found[branch] = oid
		}
	}
	return found, err
}

// BranchTip returns the commit of a branch, "" if there is no branch of exactly this name. The
// error is a *ConflictError for a name that no branch can have, and for a symbolic ref to another
// branch.
func (r *Store) BranchTip(ctx context.Context, name string) (string, error) {
	if err := CheckBranchName(name); err != nil {
		return "", git.Conflict("", "", "%v", err)
	}
	ref := "refs/heads/" + name
	found, err := r.List(ctx, ref)
	if found[ref] == "" || err != nil {
		return "", err
	}
	target := ""
	if cfg, err := gitdir.ReadCore(r.Repository.CommonDir); err != nil || !cfg.RefsInFiles() || cfg.IgnoreCase {
		if target, err = r.objects.Home().Line(ctx, "for-each-ref", "--format=%(symref)", ref); err != nil {
			return "", err
		}
	} else if to, symbolic := strings.CutPrefix(gitdir.Line(filepath.Join(r.Repository.CommonDir, ref)), "ref:"); symbolic {
		target = strings.TrimSpace(to)
	}
	if target != "" {
		return "", git.Conflict("", "", "branch %s: only another name for %s", name, strings.TrimPrefix(target, "refs/heads/"))
	}
	return found[ref], nil
}

// Matching returns the refs that match a pattern in which * stands for one part of the name, with their ids.
func (r *Store) Matching(ctx context.Context, pattern string) (map[string]string, error) {
	before, _, _ := strings.Cut(pattern, "*")
	found, err := r.List(ctx, before)
	maps.DeleteFunc(found, func(ref, _ string) bool { matches, _ := path.Match(pattern, ref); return !matches })
	return found, err
}

// PastTip is one entry of a branch's reflog: the commit before, the commit after, and the message.
type PastTip struct{ Was, Commit, Why string }

// PastTips returns the reflog of a branch, oldest first; none for a branch without one, and for "".
func (r *Store) PastTips(branch string) ([]PastTip, error) {
	if branch == "" {
		return nil, nil
	}
	return r.pastTips("heads/" + branch)
}

// RemotePastTips is PastTips for the remote-tracking branches of a name.
func (r *Store) RemotePastTips(branch string) (all []PastTip, err error) {
	remotes, _ := os.ReadDir(filepath.Join(r.Repository.CommonDir, "logs", "refs", "remotes")) // none without one
	for _, remote := range remotes {
		tips, err := r.pastTips("remotes/" + remote.Name() + "/" + branch)
		if err != nil {
			return nil, err
		}
		all = append(all, tips...)
	}
	return all, nil
}

func (r *Store) pastTips(name string) ([]PastTip, error) {
	log, err := os.ReadFile(filepath.Join(r.Repository.CommonDir, "logs", "refs", filepath.FromSlash(name)))
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

// RenamedTo returns the present name of a branch that was renamed since a time, "" if none tells.
// git takes the log of a branch along to its new name.
func (r *Store) RenamedTo(branch string, since time.Time) (now string) {
	logs := filepath.Join(r.Repository.CommonDir, "logs", "refs", "heads")
	told := []byte("\tBranch: renamed refs/heads/" + branch + " to ")
	_ = filepath.WalkDir(logs, func(path string, _ fs.DirEntry, _ error) error {
		log, _ := os.ReadFile(path) // a folder has no lines
		for line := range bytes.Lines(log) {
			head, _, found := bytes.Cut(line, told)
			words := strings.Fields(string(head))
			if !found || len(words) < 2 {
				continue
			}
			if at, err := strconv.ParseInt(words[len(words)-2], 10, 64); err == nil && at >= since.Unix() {
				name, _ := filepath.Rel(logs, path)
				now = filepath.ToSlash(name)
			}
		}
		return nil
	})
	return now
}

// Reached returns the branch that has reached a commit to which branch was to be moved: branch
// itself, however far it went on, or, if branch no longer exists, another one that has the commit,
// as after a rename. The result is "" if none has.
func (r *Store) Reached(ctx context.Context, branch, commit string) (string, error) {
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
func (r *Store) BranchesWithout(ctx context.Context, commit string, branches []string) ([]string, error) {
	if len(branches) == 0 {
		return nil, nil
	}
	args := []string{"--no-contains=" + commit}
	for _, branch := range branches {
		args = append(args, "refs/heads/"+branch)
	}
	listed, err := r.list(ctx, args...)
	return slices.DeleteFunc(slices.Clone(branches), func(branch string) bool { return listed["refs/heads/"+branch] == "" }), err
}

// OnNoBranch returns those commits that no branch contains, and their ancestors that no branch
// contains. Branches in without do not count, and neither does a detached HEAD: the next git switch
// leaves its commit to the reflog. OnNoBranch starts no git for no commits.
func (r *Store) OnNoBranch(ctx context.Context, commits, without []string) ([]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	args := slices.Concat([]string{"rev-list"}, commits, []string{"--not"})
	for _, branch := range without {
		args = append(args, "--exclude="+branch)
	}
	out, err := r.objects.Home().Output(ctx, append(args, "--branches", "--")...)
	return strings.Fields(out), err
}

// longestComponent leaves room for ".lock" in a file name of 255 bytes.
const longestComponent = 250

// CheckBranchName applies the rules of git-check-ref-format(1) for a branch. CheckBranchName also
// refuses names that these allow and nobody means: "@", "refs/heads/x", and names too long for a
// file.
func CheckBranchName(name string) error {
	if problem := branchProblem(name); problem != "" {
		return fmt.Errorf("branch name %q: %s", name, problem)
	}
	return nil
}

// branchProblems say what each group of badBranch matches.
var (
	badBranch = lazyregexp.New(`(^$)|(^(?:@|HEAD)$)|(^-)|(^refs/)|(\.\.)|(@\{)|(\.$)|([ ~^:?*\[\\])|([\x00-\x1f\x7f])|(^/|//|/$)|((?:^|/)\.)|(\.lock(?:/|$))`)

	branchProblems = []string{
		"empty", "reserved by git", "begins with a dash", "a full ref name, give the branch alone", "contains ..", "contains @{", "ends with a dot",
		"contains a blank or one of ~ ^ : ? * [ \\", "contains a control character", "has an empty part between slashes",
		"has a part that begins with a dot", "has a part that ends with .lock",
	}
)

func branchProblem(name string) string {
	if found := badBranch().FindStringSubmatchIndex(name); found != nil {
		return branchProblems[slices.IndexFunc(found[2:], func(at int) bool { return at >= 0 })/2]
	}
	if slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return len(part) > longestComponent }) {
		return fmt.Sprintf("has a part longer than %d bytes", longestComponent)
	}
	return ""
}
