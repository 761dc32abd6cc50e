package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/git"
)

// ownRefs are the refs that belong to one worktree alone, and HEAD: what only
// they lead to goes with it.
var ownRefs = []string{"refs/worktree/", "refs/bisect/", "refs/rewritten/"}

// allOthers is what `rev-list --not` takes for the refs that stay.
var allOthers = []string{"--exclude=refs/worktree/*", "--exclude=refs/bisect/*", "--exclude=refs/rewritten/*", "--glob=refs/*"}

// ownRef is a ref of one worktree and what it points to.
type ownRef struct{ name, oid, kind string }

// listOwnRefs lists the refs that belong to the worktree with the git directory
// admin, in which repo runs. It starts no git where there are none.
func (m Manager) listOwnRefs(ctx context.Context, repo git.Repo, admin string) ([]ownRef, error) {
	files, err := refsInFiles(m.Repository.CommonDir)
	if err != nil {
		return nil, err
	}
	if files && !hasFiles(filepath.Join(admin, "refs")) { // git packs none of these
		return nil, nil
	}
	out, err := repo.Output(ctx, append([]string{"for-each-ref", "--format=%(refname) %(objectname) %(objecttype)"}, ownRefs...)...)
	if err != nil {
		return nil, err
	}
	var refs []ownRef
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 3 {
			refs = append(refs, ownRef{fields[0], fields[1], fields[2]})
		}
	}
	return refs, nil
}

// hasFiles reports whether there is any file below dir, or it cannot be said.
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

// unkeptCommits describes the commits that only a detached HEAD or a ref of the
// worktree at path leads to, "" when there are none. Of a ref to anything but a
// commit nobody asks further.
func (m Manager) unkeptCommits(ctx context.Context, path, admin string) (string, error) {
	repo := in(path)
	refs, err := m.listOwnRefs(ctx, repo, admin)
	if err != nil {
		return "", err
	}
	if head := readLine(filepath.Join(admin, "HEAD")); isOID(head) {
		refs = slices.Insert(refs, 0, ownRef{"the detached HEAD " + head[:12], head, "commit"})
	}
	for _, ref := range refs {
		if ref.kind != "commit" {
			return fmt.Sprintf("a %s that only %s holds", ref.kind, ref.name), nil
		}
		out, err := repo.Output(ctx, append([]string{"rev-list", ref.oid, "--not"}, allOthers...)...)
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
