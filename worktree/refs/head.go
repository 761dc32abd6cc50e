package refs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// LastHeadIn returns the last commit in the reflog of HEAD of the linked worktree at path, "" for
// none. there is false if no worktree is at path.
func (r *Store) LastHeadIn(path string) (last string, there bool) {
	admin, err := gitdir.Linked(path, r.Repository.CommonDir, "")
	if err != nil {
		return "", false
	}
	return gitdir.LastHead(admin), true
}

// WorktreeHead returns the commit of HEAD of the worktree at path, and starts git only if the files
// of the ref store do not suffice.
func (r *Store) WorktreeHead(ctx context.Context, path string) (string, error) {
	admin, err := gitdir.Linked(path, r.Repository.CommonDir, "")
	if err != nil {
		return "", err
	}
	if head := r.HeadOf(admin); head != "" {
		return head, nil
	}
	return git.In(path).Line(ctx, "rev-parse", "--verify", "HEAD^{commit}")
}

// Head returns the commit id of ref, as seen from the worktree that paw runs in; "" means HEAD. The
// error is ErrNoCommits in a repository without commits, a *RefError if ref names no commit. HEAD
// is read from files, except in another user's repository, which git may refuse.
func (r *Store) Head(ctx context.Context, ref string) (string, error) {
	if ref == "" {
		ref = "HEAD"
	}
	if ref == "HEAD" {
		if head := r.headInFiles(ctx); head != "" {
			return head, nil
		}
	}
	oid, err := r.objects.Here().Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if git.ExitCode(err) != 1 { // with --quiet, git exits with 1 for a missing ref
		return oid, err
	}
	unborn := r.unborn()
	switch {
	case ref == "HEAD" && !unborn: // for git's own message
		return r.objects.Here().Line(ctx, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	case unborn && ref != "HEAD":
		any, err := r.objects.Here().Line(ctx, "for-each-ref", "--count=1", "--format=%(refname)")
		if unborn = any == ""; err != nil {
			return "", err
		}
	}
	if unborn {
		return "", ErrNoCommits
	}
	return "", &objects.RefError{Ref: ref}
}

// headInFiles returns the commit of HEAD of the worktree that paw runs in; "" where git must be
// asked, since it may refuse another user's repository and a bare one.
func (r *Store) headInFiles(ctx context.Context) string {
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
	head := r.HeadOf(gitDir)
	if head == "" || !r.objects.Has(ctx, head) {
		return ""
	}
	return head
}

// CurrentBranch returns the branch that is checked out where paw runs, "" for none; in a bare
// repository, the branch that HEAD names.
func (r *Store) CurrentBranch() string {
	if r.Repository.GitDir == "" || r.Repository.Worktree == "" && !r.Repository.Bare {
		return ""
	}
	branch, _ := gitdir.Head(r.Repository.GitDir, &gitdir.Refs{CommonDir: r.Repository.CommonDir})
	return branch
}

// unborn reports whether HEAD names a branch that does not exist: then HEAD cannot be resolved
// because there is no commit, not because of a broken id.
func (r *Store) unborn() bool {
	gitDir := r.Repository.GitDir
	if gitDir == "" {
		gitDir = r.Repository.CommonDir
	}
	head, err := disk.ReadFile(filepath.Join(gitDir, "HEAD"))
	target, named := strings.CutPrefix(string(head), "ref:")
	return err == nil && named && !disk.Exists(filepath.Join(r.Repository.CommonDir, strings.TrimSpace(target)))
}

// ErrNoCommits says that HEAD leads to no commit, as in a repository without any, or where its branch has none.
var ErrNoCommits = errors.New("HEAD has no commit yet")

// Detached reports whether the HEAD that MergedBranches takes names a commit and no branch. Detached
// starts git only if the files of the ref store do not suffice.
func (r *Store) Detached(ctx context.Context) (bool, error) {
	cfg, err := gitdir.ReadCore(r.Repository.CommonDir)
	if err != nil {
		return false, err
	}
	if !cfg.RefsInFiles() {
		name, err := r.objects.Here().Line(ctx, "rev-parse", "--symbolic-full-name", "HEAD")
		return name == "HEAD", err
	}
	branch, _ := gitdir.Head(cmp.Or(r.Repository.GitDir, r.Repository.CommonDir), &gitdir.Refs{CommonDir: r.Repository.CommonDir})
	return branch == "", nil
}

// HeadOf returns the commit of a worktree's HEAD, "" if its branch is gone or has no commit.
func (r *Store) HeadOf(admin string) string {
	_, head := gitdir.Head(admin, &gitdir.Refs{CommonDir: r.Repository.CommonDir})
	return head
}
