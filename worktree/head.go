package worktree

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// Head returns the commit id of ref, as seen from the worktree that paw runs in; "" means HEAD. The
// error is ErrNoCommits in a repository without commits, a *RefError if ref names no commit. HEAD
// is read from files, except in another user's repository, which git may refuse.
func (r Refs) Head(ctx context.Context, ref string) (string, error) {
	if ref == "" {
		ref = "HEAD"
	}
	if ref == "HEAD" {
		if head := r.headInFiles(ctx); head != "" {
			return head, nil
		}
	}
	oid, err := r.objects.Here().Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err == nil && oid != "" {
		return oid, nil
	}
	if git.ExitCode(err) != 1 { // with --quiet, git exits with 1 for a missing ref
		return "", err
	}
	if ref == "HEAD" && r.unborn() {
		return "", ErrNoCommits
	}
	if ref == "HEAD" { // for git's own message
		return r.objects.Here().Line(ctx, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	}
	any, listErr := r.objects.Here().Line(ctx, "for-each-ref", "--count=1", "--format=%(refname)")
	if listErr != nil {
		return "", listErr
	}
	if any == "" && r.unborn() {
		return "", ErrNoCommits
	}
	return "", &objects.RefError{Ref: ref}
}

// headInFiles returns the commit of HEAD of the worktree that paw runs in; "" where git must be
// asked, since it may refuse another user's repository and a bare one.
func (r Refs) headInFiles(ctx context.Context) string {
	top := r.Repository.Worktree
	gitDir, ok := gitdir.Of(top)
	if top == "" || !ok {
		return ""
	}
	for _, path := range []string{top, filepath.Join(top, ".git"), gitDir} {
		info, err := os.Stat(path)
		if err != nil {
			return ""
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
			return ""
		}
	}
	head := r.headOf(gitDir)
	if head == "" || !r.objects.Has(ctx, head) {
		return ""
	}
	return head
}

// CurrentBranch returns the branch that is checked out where paw runs, "" for none; in a bare
// repository, the branch that HEAD names.
func (r Refs) CurrentBranch() string {
	if r.Repository.GitDir == "" || r.Repository.Worktree == "" && !r.Repository.Bare {
		return ""
	}
	branch, _ := gitdir.Head(r.Repository.GitDir, &gitdir.Refs{CommonDir: r.Repository.CommonDir})
	return branch
}

// unborn reports whether HEAD names a branch that does not exist: then HEAD cannot be resolved
// because there is no commit, not because of a broken id.
func (r Refs) unborn() bool {
	gitDir := r.Repository.GitDir
	if gitDir == "" {
		gitDir = r.Repository.CommonDir
	}
	head, err := disk.ReadFile(filepath.Join(gitDir, "HEAD"))
	target, named := strings.CutPrefix(string(head), "ref:")
	return err == nil && named && !disk.Exists(filepath.Join(r.Repository.CommonDir, strings.TrimSpace(target)))
}

// Branches returns which of these branches exist, with their commit ids.
func (r Refs) Branches(ctx context.Context, names []string) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := r.branchesAt(ctx, names)
	maps.DeleteFunc(found, func(name, _ string) bool { return !slices.Contains(names, name) })
	return found, err
}

// branchesAt lists branches with these names or below them ("a" also finds "a/b"); names match in
// any case if the file system ignores case.
func (r Refs) branchesAt(ctx context.Context, names []string) (map[string]string, error) {
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
func (r Refs) BranchTip(ctx context.Context, name string) (string, error) {
	if err := checkBranchName(name); err != nil {
		return "", git.Conflict("", "", "%v", err)
	}
	if files, err := r.tellsByFiles(); err != nil || files {
		if err != nil {
			return "", err
		}
		ref := "refs/heads/" + name
		found, err := r.List(ctx, ref)
		if target := (&gitdir.Refs{CommonDir: r.Repository.CommonDir}).LeadsTo(ref); target != "" && found[ref] != "" {
			return "", otherName(name, target)
		}
		return found[ref], err
	}
	out, err := r.objects.Home().Output(ctx, "for-each-ref", "--format=%(objectname) %(refname)%00%(symref)", "refs/heads/"+name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		oid, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		ref, symbolic, _ := strings.Cut(rest, "\x00")
		if ref != "refs/heads/"+name {
			continue
		}
		if symbolic != "" {
			return "", otherName(name, symbolic)
		}
		return oid, nil
	}
	return "", nil
}

// otherName returns the error for a branch that is a symbolic ref.
func otherName(name, target string) error {
	return git.Conflict("", "", "branch %s: only another name for %s", name, strings.TrimPrefix(target, "refs/heads/"))
}

// tellsByFiles reports whether a branch can be looked up by name in the files of the ref store:
// they have the classic format, and the file system does not ignore case.
func (r Refs) tellsByFiles() (bool, error) {
	files, err := gitdir.RefsInFiles(r.Repository.CommonDir)
	if err != nil || !files {
		return false, err
	}
	cfg, err := gitdir.ReadCore(r.Repository.CommonDir)
	return !cfg.IgnoreCase, err
}
