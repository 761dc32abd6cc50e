package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// CheckoutOf returns the worktree that has a branch checked out, nil for none. The error is a
// *ConflictError if there are several, if the worktree is missing or not valid, or if a merge,
// rebase or the like is unfinished there; a *MoveError if a move of paw is unfinished there.
func (r *Registry) CheckoutOf(ctx context.Context, branch string) (*gitdir.Checkout, error) {
	entries, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	var found *gitdir.Checkout
	for i, e := range entries {
		if e.Bare || e.Branch != branch && !slices.Contains(gitdir.BranchesInUse(e.AdminDir), branch) {
			continue
		}
		if found != nil {
			return nil, git.Conflict("", "", "branch %s: checked out at %s and at %s", branch, found.Path, e.Path)
		}
		found = &gitdir.Checkout{Path: e.Path, AdminDir: e.AdminDir, Owner: e.LockReason}
		if err := r.journals.SettledAt(ctx, *found); err != nil {
			return nil, err
		}
		if name := gitdir.Operation(e.AdminDir); name != "" {
			return nil, git.Conflict("", "git -C "+git.Quote(e.Path)+" status", "%s: a %s is not finished there", e.Path, name)
		}
		if i == 0 && r.Repository.Unbared {
			return nil, r.Unbared()
		}
		if e.Branch != branch {
			return nil, git.Conflict("", "git -C "+git.Quote(e.Path)+" status", "branch %s: in use at %s", branch, e.Path)
		}
		if i > 0 {
			err = gitdir.Verify(e.Path, r.Repository.CommonDir, branch)
		} else if gitDir, ok := gitdir.Of(e.Path); !ok || !disk.SamePath(gitDir, e.AdminDir) {
			err = &gitdir.MismatchError{Path: e.Path, What: "directory", Want: "the checkout of " + branch}
		}
		if err != nil && !disk.Exists(e.Path) {
			return nil, git.Conflict("", "git -C "+git.Quote(r.objects.Home().Dir)+" worktree prune", "branch %s: its worktree %s is gone", branch, e.Path)
		}
		if err != nil {
			return nil, git.Conflict("", "", "branch %s: %v", branch, err)
		}
	}
	return found, nil
}

// Unbared returns a *ConflictError if a tool has set core.bare of a repository that has a checkout: git sees
// that checkout no more, so its branch must not move.
func (r *Registry) Unbared() error {
	if !r.Repository.Unbared {
		return nil
	}
	return git.Conflict("", "git -C "+git.Quote(r.Repository.Path)+" config core.bare false", "core.bare is true in %s, though there is a checkout", filepath.Join(r.Repository.CommonDir, "config"))
}

// CheckoutAt returns the worktree with that directory, whatever it has checked out; nil if it is
// not registered.
func (r *Registry) CheckoutAt(ctx context.Context, path string) (*gitdir.Checkout, error) {
	e, err := r.find(ctx, func(e Entry) bool { return !e.Bare && e.Path != "" && disk.SamePath(e.Path, path) })
	if e == nil {
		return nil, err
	}
	return &gitdir.Checkout{Path: e.Path, AdminDir: e.AdminDir, Owner: e.LockReason}, nil
}

// Obstacle is a path in a checkout that a move would change and that differs from the branch.
type Obstacle struct {
	Path string
	What string // "changed", "staged", "untracked", "ignored", ObstacleRepository, ObstacleSubmodule, ObstacleAssumed, ObstacleSkipped
}

// ObstacleSubmodule says that a submodule would be added, removed or moved; the last two name the bit by which the user has
// told git not to look at the file.
const (
	ObstacleRepository = "a repository of its own"
	ObstacleSubmodule  = "submodule"
	ObstacleAssumed    = "assume-unchanged"
	ObstacleSkipped    = "skip-worktree"
)

func (o Obstacle) String() string { return fmt.Sprintf("%s (%s)", o.Path, o.What) }

// Obstacles returns what prevents a move of the checkout from one commit to another: changed,
// staged, untracked and ignored files at paths where the commits differ, including those that git
// was told to hide. Nothing is written. The error is a *ConflictError if the index has a conflict.
// A checkout without an index has no obstacles, since it has no files of its branch. For filesFrom
// see Move.
func (m *Moves) Obstacles(ctx context.Context, c gitdir.Checkout, from, to, filesFrom string) ([]Obstacle, error) {
	if !disk.Exists(filepath.Join(c.AdminDir, "index")) {
		return nil, nil
	}
	found, _, err := m.obstacles(ctx, c, from, to, filesFrom, "")
	return found, err
}

// untouched are the paths of a move that look changed and are not: in converted, files that a filter would make anew, as they
// were when paw looked; in away, paths that a sparse checkout leaves out.
type untouched struct {
	converted map[string]os.FileInfo
	away      []string
}

// obstacles is Obstacles for a checkout with an index; it also returns what is none.
func (m *Moves) obstacles(ctx context.Context, c gitdir.Checkout, from, to, filesFrom, filesTo string) (found []Obstacle, other untouched, err error) {
	changes, err := m.objects.ChangesBetween(ctx, from, to)
	if filesTo != "" && err == nil {
		var back []objects.Change
		back, err = m.objects.ChangesBetween(ctx, from, filesTo)
		changes = slices.Concat(changes, without(slices.Clone(back), changes))
	}
	if err != nil || len(changes) == 0 && filesFrom == "" {
		return nil, other, err
	}
	l, err := m.snapshots.LookAt(ctx, c.Path, c.AdminDir, "")
	if err != nil {
		return nil, other, err
	}
	defer l.Drop()
	if l.Unmerged {
		return nil, other, git.Conflict("", "git -C "+git.Quote(c.Path)+" status", "%s: a conflict is not resolved there", c.Path)
	}
	if l.Head != from {
		return nil, other, ErrBranchMoved
	}
	var handed []objects.Change
	if filesFrom != "" {
		if handed, err = m.objects.ChangesBetween(ctx, from, filesFrom); err != nil {
			return nil, other, err
		}
	}
	may, found, err := m.mayGo(ctx, l, handed, filesFrom, to)
	if err != nil {
		return nil, other, err
	}
	found = append(found, stagedAcross(l, slices.Concat(changes, handed))...)
	other.converted = map[string]os.FileInfo{}
	sparse := disk.Exists(filepath.Join(c.AdminDir, "info", "sparse-checkout")) // git leaves files out by itself
	for _, c := range changes {
		skipped := slices.Contains(l.Real.Skipped, c.Name)
		switch {
		case slices.Contains(l.Real.Assumed, c.Name):
			found, may[c.Name] = append(found, Obstacle{c.Name, ObstacleAssumed}), true
		case skipped && (!sparse || l.Hides(c.Name)):
			found, may[c.Name] = append(found, Obstacle{c.Name, ObstacleSkipped}), true
		case skipped:
			other.away = append(other.away, c.Name)
		case slices.Contains(l.Untouched, c.Name):
			if info, err := os.Lstat(filepath.Join(l.Top, c.Name)); err == nil {
				other.converted[c.Name] = info
			}
		}
	}
	inTheWay, err := obstaclesIn(l, slices.DeleteFunc(slices.Clone(changes), func(c objects.Change) bool { return may[c.Name] }))
	return append(found, inTheWay...), other, err
}

// obstaclesIn returns an Obstacle for each change whose path is a submodule, or holds a file that the
// look has found changed, staged, untracked or ignored.
func obstaclesIn(l *snapshot.Look, changes []objects.Change) ([]Obstacle, error) {
	own := map[string]string{}
	// The last match counts: a file whose deletion is staged is untracked.
	for _, these := range []struct {
		what  string
		names []string
	}{{"staged", l.Indexed}, {"untracked", l.Untracked}, {"changed", l.Changed}} {
		for _, name := range these.names {
			own[name] = these.what
		}
	}
	gone := map[string]bool{}
	for _, c := range changes {
		gone[c.Name] = c.Gone
	}
	var found []Obstacle
	for _, c := range changes {
		what, named := own[c.Name]
		switch {
		case c.Gitlink():
			found = append(found, Obstacle{c.Name, ObstacleSubmodule})
		case named:
			found = append(found, Obstacle{c.Name, what})
		case c.Added:
			at, err := obstacleAt(l.Top, c.Name, gone)
			if err != nil {
				return nil, err
			}
			if at == "" {
				continue
			}
			if what = own[filepath.ToSlash(at)]; what == "" {
				what = "ignored"
			}
			if gitdir.IsTop(filepath.Join(l.Top, at)) {
				what = ObstacleRepository
			}
			found = append(found, Obstacle{at, what})
		}
	}
	return slices.Compact(found), nil
}

// stagedAcross returns the staged paths that a move would push out of the index although no side has them: a file where a folder
// comes, or in a folder that becomes a file. The index may hold their only copy.
func stagedAcross(l *snapshot.Look, changes []objects.Change) (found []Obstacle) {
	moved, folders, files := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		if moved[c.Name] = true; !c.Added {
			continue
		}
		files[c.Name] = true
		for above := path.Dir(c.Name); above != "." && !folders[above]; above = path.Dir(above) {
			folders[above] = true
		}
	}
	for _, name := range l.Indexed {
		across := folders[name]
		for above := path.Dir(name); above != "." && !across; above = path.Dir(above) {
			across = files[above]
		}
		if across && !moved[name] {
			found = append(found, Obstacle{name, "staged"})
		}
	}
	return found
}

// toDo lists the paths that differ between the worktree's files and the goal of a rewind.
func (r *rewind) toDo(ctx context.Context) ([]objects.Change, error) {
	all, err := objects.Between(ctx, r.Repo, r.now, r.to.Tree)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.Gitlink() {
			return nil, git.Conflict("", r.movesSubmodule(c), "%s: the submodule %s is at another commit", r.Top, c.Name)
		}
	}
	return all, nil
}

// movesSubmodule returns the command that gives the index, and the submodule, the commit that the goal has of it.
func (r *rewind) movesSubmodule(c objects.Change) string {
	in, name := "git -C "+git.Quote(r.Top), git.Quote(c.Name)
	switch {
	case c.Mode != objects.ModeGitlink:
		return in + " rm --quiet --cached -- " + name
	case disk.Exists(filepath.Join(r.Top, c.Name, ".git")):
		return "git -C " + git.Quote(filepath.Join(r.Top, c.Name)) + " checkout --quiet --detach " + c.ID + " && " + in + " add -- " + name
	}
	return "mkdir -p " + git.Quote(filepath.Join(r.Top, c.Name)) + " && " + in + " update-index --add --cacheinfo " + git.Quote("160000,"+c.ID+","+c.Name)
}

// ignoredInTheWay returns what is at paths that come back and the rescue snapshot does not contain: ignored
// files, which git would overwrite, and embedded repositories.
func (r *rewind) ignoredInTheWay(ctx context.Context, changes []objects.Change) (names []string, err error) {
	gone := map[string]bool{}
	for _, c := range changes {
		gone[c.Name] = c.Gone
	}
	for _, c := range changes {
		if !c.Added {
			continue
		}
		what, err := r.obstacle(ctx, c, gone)
		if err != nil {
			return nil, err
		}
		if what != "" && !slices.Contains(names, what) {
			names = append(names, what)
		}
	}
	return names, nil
}

// obstacle returns the path that is in the way of a file which a rewind brings back, "" for none.
// An identical file is not in the way.
func (r *rewind) obstacle(ctx context.Context, c objects.Change, gone map[string]bool) (string, error) {
	what, err := obstacleAt(r.Top, c.Name, gone)
	if what != c.Name || err != nil {
		return what, err
	}
	info, err := os.Lstat(filepath.Join(r.Top, c.Name))
	if err == nil && info.Mode().IsRegular() && (c.Mode == "100755") == (info.Mode()&0o100 != 0) {
		id, err := r.Repo.Line(ctx, "hash-object", "--path="+c.Name, "--", filepath.Join(r.Top, c.Name))
		if err == nil && id == c.ID {
			return "", nil
		}
	}
	return what, nil
}

// obstacleAt returns the path below top that is in the way of a new file, "" for none. gone are the
// files that will be removed before.
func obstacleAt(top, name string, gone map[string]bool) (string, error) {
	for i, b := range name {
		if b != '/' {
			continue
		}
		above := name[:i]
		info, err := os.Lstat(filepath.Join(top, above))
		if err != nil || gone[above] {
			return "", nil //nolint:nilerr // nothing is there, or it will be removed
		}
		if !info.IsDir() || gitdir.IsTop(filepath.Join(top, above)) {
			return above, nil
		}
	}
	info, err := os.Lstat(filepath.Join(top, name))
	switch {
	case err != nil:
		return "", nil //nolint:nilerr // nothing is there
	case info.IsDir():
		return remainsIn(top, name, gone)
	}
	return name, nil
}

// remainsIn returns a file in a folder below top that will not be removed, "" for none.
func remainsIn(top, name string, gone map[string]bool) (string, error) {
	found := ""
	err := filepath.WalkDir(filepath.Join(top, name), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(top, path)
		if err == nil && !d.IsDir() && !gone[filepath.ToSlash(inside)] {
			found = inside
			return fs.SkipAll
		}
		return err
	})
	return found, err
}
