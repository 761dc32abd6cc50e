package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Rescued says where everything is that a rewind has replaced, and where HEAD was
// and is.
type Rescued struct {
	Ref, Commit string // of a snapshot; rewinding to it takes the rewind back
	HeadBefore  string
	Head        string
	Changed     int      // files that were written or removed
	NotSaved    []string // embedded repositories, which the rewind has not touched
}

// Rewind makes the files of the worktree at path those of the commit target,
// after a snapshot of what they are, which rescueRef keeps. Tracked and untracked
// files are exactly as in target then; what target does not have is gone, ignored
// files stay.
//
// HEAD stays on its branch. The branch moves, with an entry in the reflog, to the
// commit that was HEAD when target was taken: its first parent if target is a
// snapshot, else target itself. Commits made since stay reachable through the
// rescue. The index is as HEAD; content that was only staged is in the second
// parent of the rescue.
//
// Files that git converts (line ends, filters) come back as git checks them out,
// and of permissions only whether a file is executable.
//
// It is refused with *ConflictError, and nothing has changed but that the rescue
// may be there, during a merge or rebase, while the index is locked, with changes
// in submodules or a submodule at another commit, when a file cannot be saved,
// and when an ignored file or an embedded repository is in the way. One that failed
// in the middle, as on a full disk, is *HalfRewoundError.
func (m Manager) Rewind(ctx context.Context, path, target, rescueRef string) (Rescued, error) {
	to, err := m.goal(ctx, target)
	if err != nil {
		return Rescued{}, err
	}
	return m.rewindTo(ctx, path, to, rescueRef)
}

// RewindFrom is Rewind to a commit that was made of the files as they were in another one. It is refused with *ConflictError
// when they are others by now: what has come since would go, and stay in the rescue alone.
func (m Manager) RewindFrom(ctx context.Context, path, target, was, rescueRef string) (Rescued, error) {
	to, err := m.goal(ctx, target)
	if err != nil {
		return Rescued{}, err
	}
	if to.was, err = m.TreeOf(ctx, was); err != nil {
		return Rescued{}, err
	}
	return m.rewindTo(ctx, path, to, rescueRef)
}

// rewindTo is Rewind where it is known what HEAD becomes.
func (m Manager) rewindTo(ctx context.Context, path string, to goal, rescueRef string) (Rescued, error) {
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil {
		return Rescued{}, err
	}
	if name := operation(admin); name != "" {
		return Rescued{}, conflict("", "", "%s: a %s is not finished", path, name)
	}
	if lock := filepath.Join(admin, "index.lock"); exists(lock) {
		return Rescued{}, conflict("", "", "%s: the index is locked by %s", path, lock)
	}
	dir, err := newScratch(admin)
	if err != nil {
		return Rescued{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l, err := m.lookAt(ctx, path, admin, dir)
	if err != nil {
		return Rescued{}, err
	}
	r := &rewind{m: m, look: l, admin: admin, to: to}
	return r.run(ctx, rescueRef)
}

// goal is where a rewind leads.
type goal struct {
	commit, tree string
	head         string // "" to leave it where it is
	was          string // tree that the files must be as, "" for any
}

// goal reads a commit.
func (m Manager) goal(ctx context.Context, target string) (goal, error) {
	all, err := m.goals(ctx, target)
	if err != nil {
		return goal{}, err
	}
	if len(all) != 1 {
		return goal{}, &RefError{Ref: target}
	}
	return all[0], nil
}

// goals reads commits, of each one once, in no order; the snapshots of paw are known by who signed them.
func (m Manager) goals(ctx context.Context, targets ...string) ([]goal, error) {
	args := []string{"rev-list", "--no-walk", "--no-commit-header", "--format=%H%x00%T%x00%P%x00%ae%x00%ce", "--end-of-options"}
	out, err := m.home().Output(ctx, append(append(args, targets...), "--")...)
	if err != nil {
		return nil, err
	}
	var all []goal
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(fields) != 5 {
			return nil, &RefError{Ref: targets[0]}
		}
		to := goal{commit: fields[0], tree: fields[1], head: fields[0]}
		if fields[3] == snapshotEmail && fields[4] == snapshotEmail {
			to.head, _, _ = strings.Cut(fields[2], " ")
		}
		all = append(all, to)
	}
	return all, nil
}

type rewind struct {
	*look
	m     Manager
	admin string
	to    goal
	now   string // tree of the files as they are
}

func (r *rewind) run(ctx context.Context, rescueRef string) (Rescued, error) {
	if err := r.refuse(); err != nil {
		return Rescued{}, err
	}
	done := Rescued{HeadBefore: r.head, Head: r.head, NotSaved: sorted(r.embedded)}
	var err error
	if done.Commit, err = r.rescue(ctx); err != nil {
		return Rescued{}, err
	}
	if r.to.was != "" && r.now != r.to.was {
		return Rescued{}, conflict("", "", "%s: its files have changed meanwhile", r.top)
	}
	changes, err := r.changes(ctx)
	if err != nil {
		return Rescued{}, err
	}
	if err := r.inTheWay(ctx, changes); err != nil {
		return Rescued{}, err
	}
	if err := r.m.keep(ctx, done.Commit, rescueRef); err != nil {
		return Rescued{}, err
	}
	done.Ref, done.Changed = rescueRef, len(changes)
	if r.to.head != "" {
		done.Head = r.to.head
	}
	return done, r.apply(ctx, done)
}

// refuse says why these files cannot be saved or brought back.
func (r *rewind) refuse() error {
	switch {
	case r.head == "":
		return conflict("", "", "%s: the branch has no commit", r.top)
	case r.unmerged:
		return conflict("", "", "%s: a conflict is not resolved", r.top)
	case len(r.submodules) > 0:
		return conflict("", "", "%s: the submodule %s has changes", r.top, r.submodules[0])
	}
	return nil
}

// rescue commits the files as they are. The scratch index holds them then.
func (r *rewind) rescue(ctx context.Context) (string, error) {
	if !r.dirty {
		tree, err := r.repo.Line(ctx, "rev-parse", "--verify", r.head+"^{tree}")
		r.now = tree
		return r.head, err
	}
	notSaved, err := r.record(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range notSaved {
		if !slices.Contains(r.embedded, name) {
			return "", conflict("", "", "%s: %s cannot be saved", r.top, name)
		}
	}
	if r.now, err = r.repo.Line(ctx, quietly("write-tree")...); err != nil {
		return "", err
	}
	var parents []string
	if r.staged {
		staged, err := r.stagedCommit(ctx)
		if err != nil {
			return "", err
		}
		parents = append(parents, staged)
	}
	return r.commit(ctx, r.now, "before a rewind to "+r.to.commit+"\n", parents...)
}

// stagedCommit keeps what is in the index.
func (r *rewind) stagedCommit(ctx context.Context) (string, error) {
	tree, err := repoWithIndex(r.top, r.real.file).Line(ctx, quietly("write-tree")...)
	if err != nil {
		return "", err
	}
	return r.commit(ctx, tree, "index before a rewind to "+r.to.commit+"\n")
}

// apply moves the files, then the index, then HEAD. One that was cut short looks like work that is not committed, and what
// HEAD has already never looks as if the agent had taken it out. Git looks at all files before it writes the first one: what has
// changed since the rescue is in its way.
func (r *rewind) apply(ctx context.Context, to Rescued) error {
	back := r.began.Add(-clockMargin) // git shall look into files, not at their times
	if err := os.Chtimes(r.scratch, back, back); err != nil {
		return err
	}
	if err := refresh(ctx, r.repo); err != nil {
		return err
	}
	files := quietly("read-tree", "--no-sparse-checkout", "-m", "-u", r.now, r.to.tree)
	if err := r.repo.Run(ctx, append(files[:len(files):len(files)], "--dry-run")...); err != nil {
		return err
	}
	if now := r.m.headOf(r.admin); now != "" && now != r.head {
		return conflict("", "", "%s: HEAD has moved meanwhile", r.top)
	}
	err := r.repo.Run(ctx, files...)
	if err == nil {
		err = r.repo.Run(ctx, quietly("read-tree", "--no-sparse-checkout", "-m", to.Head)...)
	}
	if err == nil {
		err = r.installIndex(ctx)
	}
	if err == nil {
		err = r.moveHead(ctx, to.Head, r.head)
	}
	if err != nil {
		return &HalfRewoundError{Path: r.top, Ref: to.Ref, Err: err}
	}
	return nil
}

func (r *rewind) moveHead(ctx context.Context, to, from string) error {
	if to == from {
		return nil
	}
	return r.repo.Run(ctx, quietly("update-ref", "--create-reflog", "-m", "paw: rewind to "+r.to.commit, "HEAD", to, from)...)
}
