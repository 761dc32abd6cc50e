package worktree

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
)

// Rescued says where the state before a rewind is kept, and where HEAD was and is.
type Rescued struct {
	Ref, Commit string // of a snapshot; rewinding to it undoes the rewind. Ref is "" if nothing has changed
	HeadBefore  string
	Head        string
	Changed     int      // number of files written or removed
	NotSaved    []string // embedded repositories, which the rewind has not touched
}

// RewindOptions holds the options of a rewind.
type RewindOptions struct {
	Rescue  string            // ref for the snapshot from before the rewind
	From    string            // commit that the files must equal, "" for any: target was made from it, and later changes would be lost
	Command string            // command that moves, for messages about an unfinished move
	Log     string            // message for the reflog; "" writes the message of a rewind
	Session string            // session whose recover ends an unfinished move
	Exactly bool              // HEAD goes to target itself, for a worktree in which nobody works
	Step    func(name string) // called after each step; may be nil

	// Along returns changes of refs that are made as HEAD moves: all of them and the move, or none. A ref is
	// changed from wherever it is then. before is a commit of what is there, and moves is false if all is as at the goal. nil changes none.
	Along func(before string, moves bool) ([]refs.Change, error)
}

// Rewind makes the files of the worktree at path equal the commit target, after taking a snapshot
// that rescueRef keeps. Tracked and untracked files are then exactly those of target; other files
// are gone, except those that are ignored now, or that target ignores (see spare).
//
// HEAD stays on its branch. The branch moves, with an entry in the reflog, to the commit that was
// HEAD when target was taken: its first parent if target is a snapshot, else target itself. Later
// commits stay reachable through the rescue. The index equals HEAD, and has the files of target that
// git ignores besides; content that was only staged is in the second parent of the rescue. If
// nothing has to change, and no ref, nothing is kept.
//
// Files that git converts (line ends, filters) come back as git checks them out, and of the
// permissions only the executable bit.
//
// Rewind refuses in these cases, with nothing changed except that the rescue may exist:
// *ConflictError during a merge or rebase, with changes in submodules or a submodule at another
// commit, and if an ignored file or an embedded repository is in the way; *NotSavedError if a file
// cannot be saved; *IndexLockedError if another git has locked the index; *MoveError if an earlier
// move (see Journal) has not ended there. A failure in the middle is undone; if that fails,
// too, as on a full disk, the error is *HalfMovedError. If paw is killed after any step, EndMove ends the
// rewind.
func (m *Moves) Rewind(ctx context.Context, path, target string, o RewindOptions) (Rescued, error) {
	to, err := m.objects.State(ctx, target)
	if err != nil {
		return Rescued{}, err
	}
	if o.Exactly {
		to.Head = to.Commit
	}
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return Rescued{}, err
	}
	at, err := m.lockPlace(ctx, gitdir.Checkout{Path: path, AdminDir: admin})
	if err != nil {
		return Rescued{}, err
	}
	defer at.release()
	if err := m.journals.UnsettledAt(at.Checkout, false); err != nil {
		return Rescued{}, err
	}
	if name := gitdir.Operation(admin); name != "" {
		return Rescued{}, git.Conflict("", "", "%s: a %s is not finished", path, name)
	}
	if lock := filepath.Join(admin, "index.lock"); disk.Exists(lock) {
		return Rescued{}, &IndexLockedError{lock}
	}
	l, err := m.snapshots.LookAt(ctx, path, admin, "")
	if err != nil {
		return Rescued{}, err
	}
	defer l.Drop()
	r := &rewind{m: m, Look: l, at: at, to: to, options: o}
	return r.run(ctx)
}

type rewind struct {
	*snapshot.Look
	m       *Moves
	at      placeLock
	to      objects.State
	options RewindOptions
	now     string // tree of the current files
	ignored bool   // now has ignored files, too

	converted map[string]os.FileInfo // files to overwrite that look changed and are not, as they were when paw looked
}

func (r *rewind) run(ctx context.Context) (Rescued, error) {
	done := Rescued{HeadBefore: r.Head, Head: r.Head, NotSaved: disk.SortedPaths(r.Embedded)}
	changes, err := r.changes(ctx)
	if err != nil {
		return Rescued{}, err
	}
	if done.Commit, err = r.commitNow(ctx); err != nil {
		return Rescued{}, err
	}
	if names, err := r.ignoredInTheWay(ctx, changes); err != nil {
		return Rescued{}, err
	} else if len(names) > 0 {
		return Rescued{}, r.inTheWay(names[0])
	}
	if r.to.Head != "" {
		done.Head = r.to.Head
	}
	moves := len(changes) > 0 || len(r.Indexed) > 0 || done.Head != r.Head
	if err := tryFilters(ctx, r.at.Checkout, func() ([]objects.Change, error) { return changes, nil }); err != nil {
		return Rescued{}, err
	}
	var along []refs.Change
	if r.options.Along != nil {
		if along, err = r.options.Along(done.Commit, moves); err != nil {
			return Rescued{}, err
		}
	}
	if !moves && len(along) == 0 {
		return done, nil
	}
	if err := r.m.refs.Keep(ctx, done.Commit, r.options.Rescue); err != nil {
		return Rescued{}, err
	}
	done.Ref, done.Changed = r.options.Rescue, len(changes)
	return done, r.apply(ctx, done, along)
}

// changes takes up the current files, and lists the paths that differ between them and the goal.
func (r *rewind) changes(ctx context.Context) ([]objects.Change, error) {
	if err := r.refuse(); err != nil {
		return nil, err
	}
	if err := r.readNow(ctx); err != nil {
		return nil, err
	}
	if from := r.options.From; from != "" {
		if was, err := r.m.objects.TreeOf(ctx, from); err != nil {
			return nil, err
		} else if r.now != was {
			return nil, git.Conflict("", "", "%s: its files have changed meanwhile", r.Top)
		}
	}
	all, err := r.toDo(ctx)
	if err != nil {
		return nil, err
	}
	r.converted = map[string]os.FileInfo{}
	for _, c := range all {
		if slices.Contains(r.Untouched, c.Name) {
			if info, err := os.Lstat(filepath.Join(r.Top, c.Name)); err == nil {
				r.converted[c.Name] = info
			}
		}
	}
	return r.spare(ctx, all)
}

// refuse returns a *ConflictError if the files cannot be saved or replaced.
func (r *rewind) refuse() error {
	switch {
	case r.Head == "":
		return git.Conflict("", "", "%s: the branch has no commit", r.Top)
	case r.Unmerged:
		return git.Conflict("", "", "%s: a conflict is not resolved", r.Top)
	case len(r.Submodules) > 0:
		return git.Conflict("", "git -C "+git.Quote(filepath.Join(r.Top, r.Submodules[0]))+" stash --include-untracked", "%s: the submodule %s has changes", r.Top, r.Submodules[0])
	}
	return nil
}

// readNow makes a tree of the current files. The scratch index then holds them.
func (r *rewind) readNow(ctx context.Context) error {
	if !r.Dirty {
		tree, err := r.m.objects.TreeOf(ctx, r.Head)
		r.now = tree
		return err
	}
	notSaved, cause, err := r.Record(ctx)
	if err != nil {
		return err
	}
	for _, name := range notSaved {
		if !slices.Contains(r.Embedded, name) {
			return &snapshot.NotSavedError{Path: r.Top, Name: name, Cause: cause}
		}
	}
	r.now, err = r.Repo.Line(ctx, git.Quietly("write-tree")...)
	return err
}

// commitNow commits the current files.
func (r *rewind) commitNow(ctx context.Context) (string, error) {
	if !r.Dirty && !r.ignored {
		return r.Head, nil
	}
	var parents []string
	if r.Staged {
		tree, err := snapshot.RepoWithIndex(r.Top, r.Real.File).Line(ctx, git.Quietly("write-tree")...)
		if err != nil {
			return "", err
		}
		staged, err := r.Commit(ctx, tree, "index before a rewind to "+r.to.Commit+"\n")
		if err != nil {
			return "", err
		}
		parents = append(parents, staged)
	}
	return r.Commit(ctx, r.now, "before a rewind to "+r.to.Commit+"\n", parents...)
}

// apply moves files, HEAD and index, in this order. git checks all files before it writes the first
// one, so that a change made since the rescue stops it. If git fails, apply goes back to the rescue.
func (r *rewind) apply(ctx context.Context, to Rescued, along []refs.Change) error {
	if err := r.freshen(ctx); err != nil {
		return err
	}
	if err := r.at.awaitIndex(ctx); err != nil {
		return err
	}
	if err := r.asSeen(ctx); err != nil {
		return err
	}
	v := &move{m: r.m, at: r.at, step: func(string) {}, Journal: journal.Journal{
		Command: r.options.Command, Session: r.options.Session, Ref: "HEAD", Log: cmp.Or(r.options.Log, "paw: rewind to "+r.to.Commit),
		From: r.Head, To: to.Head, Was: r.now, Becomes: r.to.Tree, Branch: r.m.branchAt(r.at.Checkout), Rescue: to.Ref, Refs: along,
	}}
	if r.options.Step != nil {
		v.step = r.options.Step
	}
	files := r.toGoal()
	if len(r.converted) == 0 { // git would refuse to overwrite those
		if err := r.Repo.Run(ctx, append(files[:len(files):len(files)], "--dry-run")...); err != nil {
			return err
		}
	}
	if err := v.write(); err != nil {
		return err
	}
	v.step(StepLocked)
	ctx = context.WithoutCancel(ctx) // Ctrl-C must not interrupt the move halfway.
	err := removeConverted(r.Top, r.converted)
	if err == nil {
		err = r.Repo.WithFile(r.at.file).RunWhole(ctx, files...)
	}
	if err == nil {
		v.step(StepFiles)
		err = v.headAndIndex(ctx)
	}
	if err != nil {
		return v.takeBack(ctx, err)
	}
	if err := v.close(); err != nil {
		return &HalfMovedError{r.at.Path, v.Session, v.Rescue, err}
	}
	return nil
}

// freshen makes the scratch index, which holds the current files, ready for toGoal.
func (r *rewind) freshen(ctx context.Context) error {
	back := r.Began.Add(-snapshot.ClockMargin) // With an old time git compares content instead of times.
	if err := os.Chtimes(r.Scratch, back, back); err != nil || len(r.Real.Submodules) == 0 {
		return err
	}
	return snapshot.Refresh(ctx, r.Repo)
}

// toGoal returns the git command that makes the files those of the goal, unless one has changed since the look.
func (r *rewind) toGoal() []string {
	return git.Quietly("read-tree", "--no-sparse-checkout", "-m", "-u", r.now, r.to.Tree)
}

// asSeen returns a *ConflictError if index or HEAD has changed since they were read.
func (r *rewind) asSeen(ctx context.Context) error {
	same, err := r.Real.Same(ctx, filepath.Join(r.at.AdminDir, "index"))
	if err != nil {
		return err
	}
	if !same {
		return git.Conflict("", "", "%s: the index has changed meanwhile", r.Top)
	}
	if now := r.m.head(ctx, r.at.Checkout); now != r.Head {
		return git.Conflict("", "", "%s: HEAD has moved meanwhile", r.Top)
	}
	return nil
}
