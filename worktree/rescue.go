package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
)

// turnSession returns the name under refs/paw for the owner of a worktree: for "paw session/agent
// ID" it is "session_agent".
func turnSession(owner string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(owner, ownerPrefix), " ")
	name = strings.ReplaceAll(name, "/", "_")
	if refs.CheckBranchName(name) != nil {
		return "unknown"
	}
	return name
}

// rescues makes refs for what only the git directory of a worktree leads to.
type rescues struct {
	Repository gitdir.Repository

	objects *objects.Store
	refs    *refs.Store
}

// keep makes refs for what only the git directory of a worktree leads to: staged content that
// differs from HEAD, and commits that no ref of the repository keeps (a detached HEAD, an
// unfinished merge, an autostash, refs of the worktree alone). keep returns the refs, "" for
// nothing to keep. whole is false if git could not read the index or a commit; then the git
// directory itself must be kept.
func (r *rescues) keep(ctx context.Context, admin, owner string) (refs string, whole bool, err error) {
	repo := r.objects.Home().WithEnv("GIT_DIR=" + admin)
	head := r.refs.HeadOf(admin)
	tree, whole, treeErr := r.indexTree(ctx, repo, admin)
	ofHead := []string{"rev-parse", "--verify", head + "^{tree}"}
	if head == "" {
		ofHead = []string{"hash-object", "-t", "tree", "--stdin"} // the empty one
	}
	headTree, headErr := repo.Line(ctx, ofHead...)
	own, ownErr := r.listOwnRefs(ctx, repo, admin)
	loose, readable, looseErr := r.looseCommits(ctx, repo, admin, own)
	if err := errors.Join(treeErr, headErr, ownErr, looseErr); err != nil {
		return "", false, err
	}
	kept := loose
	if staged := tree != "" && tree != headTree; staged || len(loose) > 1 {
		parents := slices.DeleteFunc(slices.Clone(loose), func(commit string) bool { return commit == head })
		if head != "" {
			parents = slices.Insert(parents, 0, head)
		}
		commit, err := r.objects.Commit(ctx, objects.NewCommit{
			Tree: cmp.Or(tree, headTree), Parents: parents, Message: "index and commits of a worktree\n", Own: true,
		})
		if err != nil {
			return "", false, err
		}
		kept = []string{commit}
	}
	for _, ref := range own {
		if ref.kind != "commit" {
			kept = append(kept, ref.oid)
		}
	}
	names := make([]string, len(kept))
	for i, oid := range kept {
		if names[i], err = keepUnder(ctx, r.refs, oid, "refs/paw/"+turnSession(owner)+"/rescue/"); err != nil {
			return "", false, err
		}
	}
	return strings.Join(names, ", "), whole && readable, nil
}

// keepUnder makes a new ref for a commit, whose name is a prefix and the time.
func keepUnder(ctx context.Context, store *refs.Store, commit, prefix string) (ref string, err error) {
	name := prefix + time.Now().UTC().Format("20060102T150405Z")
	for n := 1; ; n++ {
		if ref = name; n > 1 {
			ref = fmt.Sprintf("%s-%d", name, n)
		}
		if err = store.Keep(ctx, commit, ref); !errors.Is(err, refs.ErrTaken) || n == 100 {
			return ref, err
		}
	}
}

// indexTree writes the tree of a worktree's index, with our side of conflicts; "" without an index.
// whole is false if git could not write it, because the index is broken or for example the disk is
// full.
func (r *rescues) indexTree(ctx context.Context, repo git.Repo, admin string) (tree string, whole bool, err error) {
	file := snapshot.NewScratchIndex(admin)
	defer snapshot.DropIndex(file)
	if err := disk.CopyFile(filepath.Join(admin, "index"), file); errors.Is(err, fs.ErrNotExist) {
		return "", true, nil
	} else if err != nil {
		return "", false, err
	}
	repo = repo.WithEnv("GIT_INDEX_FILE=" + file)
	entries, err := snapshot.ListIndex(ctx, repo, file)
	var settled strings.Builder
	ours := ""                  // path whose own side was seen last
	for _, e := range entries { // by name, then by stage: base, ours, theirs; the last written one counts
		if e.Stage == "0" || e.Name == ours {
			continue
		}
		if e.Stage == "2" {
			ours = e.Name
		}
		fmt.Fprintf(&settled, "0 %s\t%s\x00%s %s 0\t%s\x00", strings.Repeat("0", len(e.ID)), e.Name, e.Mode, e.ID, e.Name)
	}
	if err == nil && settled.Len() > 0 {
		_, err = repo.Input(ctx, []byte(settled.String()), git.Quietly("update-index", "-z", "--index-info")...)
	}
	if err == nil {
		tree, err = repo.Line(ctx, git.Quietly("write-tree")...)
	}
	if err != nil && ctx.Err() == nil {
		return "", false, nil // the index itself is kept
	}
	return tree, true, err
}

// looseCommits returns the commits that the git directory of a worktree names and no ref of the
// repository keeps, the detached HEAD first. readable is false if git could not follow one of them.
func (r *rescues) looseCommits(ctx context.Context, repo git.Repo, admin string, own []ownRef) (loose []string, readable bool, err error) {
	var candidates []string
	for _, ref := range own {
		if ref.kind == "commit" {
			candidates = append(candidates, ref.oid)
		}
	}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_AUTOSTASH",
		"rebase-merge/autostash", "rebase-merge/orig-head", "rebase-apply/autostash", "rebase-apply/orig-head"} {
		for line := range strings.Lines(gitdir.Line(filepath.Join(admin, name))) {
			if oid := strings.TrimSpace(line); gitdir.IsOID(oid) {
				candidates = append(candidates, oid)
			}
		}
	}
	readable = true
	for _, oid := range candidates {
		out, err := repo.Output(ctx, append([]string{"rev-list", "--max-count=1", oid, "--not"}, allOthers...)...)
		if err != nil && git.ExitCode(err) < 0 {
			return nil, false, err
		}
		readable = readable && err == nil
		if out != "" && !slices.Contains(loose, oid) {
			loose = append(loose, oid)
		}
	}
	return loose, readable, nil
}

// ownRefs lists the namespaces of refs that belong to one worktree, besides HEAD, and are removed
// with it.
var ownRefs = []string{"refs/worktree/", "refs/bisect/", "refs/rewritten/"}

// allOthers lists the arguments of `rev-list --not` for the refs that stay. Turn tags and the refs of states do
// not: a purge deletes them.
var allOthers = []string{
	"--exclude=refs/worktree/*", "--exclude=refs/bisect/*", "--exclude=refs/rewritten/*", "--exclude=refs/tags/afk-*", "--exclude=refs/paw/*", "--glob=refs/*",
	"--glob=refs/paw/*/rescue/*",
}

// ownRef is a ref of one worktree, or its detached HEAD, with the object it points to and the object's
// type.
type ownRef struct{ name, oid, kind string }

// listOwnRefs lists a detached HEAD, but not where paw has left it for a check, and then the refs that belong to the
// worktree with the git directory admin, in which repo runs. Without refs it starts no git.
func (r *rescues) listOwnRefs(ctx context.Context, repo git.Repo, admin string) (refs []ownRef, err error) {
	if head := gitdir.Line(filepath.Join(admin, "HEAD")); gitdir.IsOID(head) && head != gitdir.Line(checkMark(admin)) {
		refs = append(refs, ownRef{"the detached HEAD " + head[:12], head, "commit"})
	}
	cfg, err := gitdir.ReadCore(r.Repository.CommonDir)
	if err != nil {
		return nil, err
	}
	if cfg.RefsInFiles() && !hasFiles(filepath.Join(admin, "refs")) { // git never packs these refs
		return refs, nil
	}
	out, err := repo.Output(ctx, append([]string{"for-each-ref", "--format=%(refname) %(objectname) %(objecttype)"}, ownRefs...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 3 {
			refs = append(refs, ownRef{fields[0], fields[1], fields[2]})
		}
	}
	return refs, nil
}

// hasFiles reports whether there is a file below dir, or dir cannot be read.
func hasFiles(dir string) bool {
	found := false
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found = true
		return fs.SkipAll
	})
	return found || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// unkeptCommits describes the commits that only a detached HEAD or a ref of the worktree at path
// leads to, "" for none, apart from those that the commit saved has, "" for none. A ref to another type of object is
// reported as such.
func (r *rescues) unkeptCommits(ctx context.Context, path, admin, saved string) (string, error) {
	kept := allOthers
	if saved != "" {
		kept = append([]string{saved}, allOthers...)
	}
	repo := git.In(path)
	refs, err := r.listOwnRefs(ctx, repo, admin)
	if err != nil {
		return "", err
	}
	for _, ref := range refs {
		if ref.kind != "commit" {
			return fmt.Sprintf("a %s that only %s holds", ref.kind, ref.name), nil
		}
		out, err := repo.Output(ctx, append([]string{"rev-list", ref.oid, "--not"}, kept...)...)
		if err != nil {
			return "", err
		}
		switch n := strings.Count(out, "\n"); {
		case n == 1:
			return fmt.Sprintf("1 commit of %s that is on no branch", ref.name), nil
		case n > 1:
			return fmt.Sprintf("%d commits of %s that are on no branch", n, ref.name), nil
		}
	}
	return "", nil
}
