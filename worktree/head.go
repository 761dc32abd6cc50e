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
)

// Head returns the id of the commit that ref names, as seen from the worktree
// one stands in; "" is HEAD. It fails with ErrNoCommits in a repository without
// commits and with *RefError when ref names no commit. HEAD is read from files, unless the repository is somebody else's, which git refuses.
func (r Refs) Head(ctx context.Context, ref string) (string, error) {
	if ref == "" {
		ref = "HEAD"
	}
	if ref == "HEAD" {
		if head := r.headInFiles(ctx); head != "" {
			return head, nil
		}
	}
	oid, err := r.objects.here().Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err == nil && oid != "" {
		return oid, nil
	}
	if git.ExitCode(err) != 1 { // "no such ref", said with --quiet
		return "", err
	}
	if ref == "HEAD" && r.unborn() {
		return "", ErrNoCommits
	}
	if ref == "HEAD" { // in git's own words
		return r.objects.here().Line(ctx, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	}
	any, listErr := r.objects.here().Line(ctx, "for-each-ref", "--count=1", "--format=%(refname)")
	if listErr != nil {
		return "", listErr
	}
	if any == "" && r.unborn() {
		return "", ErrNoCommits
	}
	return "", &RefError{Ref: ref}
}

// headInFiles is the commit of HEAD where the user stands, "" where git has to be asked: it may refuse a repository of somebody
// else, and a bare one.
func (r Refs) headInFiles(ctx context.Context) string {
	top := r.Repository.Worktree
	gitDir, ok := gitDirOf(top)
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

// CurrentBranch is the branch that is checked out where the user stands, "" for none; in a bare repository it is the branch that
// its HEAD names.
func (r Refs) CurrentBranch() string {
	e := Entry{AdminDir: r.Repository.GitDir}
	if e.AdminDir == "" || r.Repository.Worktree == "" && !r.Repository.Bare {
		return ""
	}
	e.readHead(&refReader{commonDir: r.Repository.CommonDir})
	return e.Branch
}

// unborn reports whether HEAD names a branch that does not exist, so that a HEAD
// that cannot be resolved is one without commits and not a broken id.
func (r Refs) unborn() bool {
	gitDir := r.Repository.GitDir
	if gitDir == "" {
		gitDir = r.Repository.CommonDir
	}
	head, err := disk.ReadFile(filepath.Join(gitDir, "HEAD"))
	target, named := strings.CutPrefix(string(head), "ref:")
	return err == nil && named && !exists(filepath.Join(r.Repository.CommonDir, strings.TrimSpace(target)))
}

// Branches returns the branches of these names that exist, with the ids of their
// commits.
func (r Refs) Branches(ctx context.Context, names []string) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := r.branchesAt(ctx, names)
	maps.DeleteFunc(found, func(name, _ string) bool { return !slices.Contains(names, name) })
	return found, err
}

// branchesAt lists the branches with these names or below them ("a" also finds
// "a/b"), in any case where the file system does not tell cases apart.
func (r Refs) branchesAt(ctx context.Context, names []string) (map[string]string, error) {
	cfg, err := readCore(r.Repository.CommonDir)
	if err != nil {
		return nil, err
	}
	refs := make([]string, len(names))
	for i, name := range names {
		refs[i] = "refs/heads/" + name
	}
	var listed map[string]string
	if cfg.ignoreCase {
		listed, err = r.list(ctx, append([]string{"--ignore-case"}, refs...)...)
	} else {
		listed, err = r.List(ctx, refs...)
	}
	found := map[string]string{}
	for ref, oid := range listed {
		branch := strings.TrimPrefix(ref, "refs/heads/")
		near := func(name string) bool { return branch == name || inside(branch, name, "/") }
		if cfg.ignoreCase || slices.ContainsFunc(names, near) {
			found[branch] = oid
		}
	}
	return found, err
}

// BranchTip is the commit of a branch, "" when there is none of exactly this name. It is *ConflictError for a name that no
// branch can have, and for one that is only another name of a branch.
func (r Refs) BranchTip(ctx context.Context, name string) (string, error) {
	if err := checkBranchName(name); err != nil {
		return "", conflict("", "", "%v", err)
	}
	if files, err := r.tellsByFiles(); err != nil || files {
		if err != nil {
			return "", err
		}
		ref := "refs/heads/" + name
		found, err := r.List(ctx, ref)
		if target := (&refReader{commonDir: r.Repository.CommonDir}).leadsTo(ref); target != "" && found[ref] != "" {
			return "", otherName(name, target)
		}
		return found[ref], err
	}
	out, err := r.objects.home().Output(ctx, "for-each-ref", "--format=%(objectname) %(refname)%00%(symref)", "refs/heads/"+name)
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

// otherName refuses a branch that is a symbolic ref.
func otherName(name, target string) error {
	return conflict("", "", "branch %s: only another name for %s", name, strings.TrimPrefix(target, "refs/heads/"))
}

// tellsByFiles reports whether the files of the ref store tell of a branch by its name: they are in the classic format, and their file
// system tells cases apart.
func (r Refs) tellsByFiles() (bool, error) {
	files, err := refsInFiles(r.Repository.CommonDir)
	if err != nil || !files {
		return false, err
	}
	cfg, err := readCore(r.Repository.CommonDir)
	return !cfg.ignoreCase, err
}
