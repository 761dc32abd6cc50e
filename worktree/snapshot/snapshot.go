// Package snapshot saves the files of a worktree in a commit, without touching the worktree: with a
// private copy of its index, which is kept for the next snapshot.
//
// Begin with Taker; a Look says what differs from HEAD, for whoever moves files.
package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/refs"
)

// Snapshot is the state of a worktree, kept in a commit.
type Snapshot struct {
	Commit string // HEAD itself for a clean worktree
	Ref    string
	// NotSaved lists paths whose content is not in the commit: embedded repositories, submodules
	// with changes of their own, files that git could not read.
	NotSaved   []string
	Submodules []string // the submodules in NotSaved with changes of their own
	LeftOut    []string // what is no work to keep, each with what it is: "sub, a worktree of its own"
	Behind     []string // submodules whose checkout is behind; the commit has the commit of the index for them
	Head       string   // HEAD at that time, or MovedFrom; "" if the worktree was clean, and Commit is HEAD
	MovedFrom  string   // commit that was checked out if the branch was moved from elsewhere, see MovedFrom; else ""
	Cause      error    // git's error about the first file that it could not read or store, nil for none
	Staged     bool     // the index has content that neither HEAD nor a file has
	Unmerged   bool     // the index has conflicts; files may hold conflict markers
}

// ErrOverBudget says that saving a worktree would exceed the budget. Content recorded so far is
// reused by the next try.
var ErrOverBudget = errors.New("over the budget of a snapshot")

// Budget limits a snapshot. Zero means no limit.
type Budget struct {
	Time  time.Duration
	Bytes int64 // bytes of untracked and changed files that no earlier snapshot has saved
}

// snapshotTries limits the attempts while a `git gc --prune=now` runs, which removes objects that
// no ref keeps yet.
const snapshotTries = 4

// Taker saves the files of worktrees in commits.
type Taker struct {
	Repository gitdir.Repository

	objects  *objects.Store
	refs     *refs.Store
	journals journal.Reader
}

// New returns access to snapshots, which become objects of the store o and are kept by refs of r.
func New(o *objects.Store, r *refs.Store, journals journal.Reader) *Taker {
	return &Taker{o.Repository, o, r, journals}
}

// Take commits all files of the worktree at path, with untracked and without ignored ones, with
// HEAD as the parent, and makes ref point to the commit. HEAD, index, files and the output of `git
// status` do not change; a conflict or a held index.lock does not prevent it. For a clean worktree
// ref points to HEAD. The error is refs.ErrTaken if the ref exists. If ref is "", no ref is made, and
// the commit lasts until git collects garbage.
func (snapshots *Taker) Take(ctx context.Context, path, ref, message string) (Snapshot, error) {
	return snapshots.TakeWithin(ctx, path, ref, message, "", Budget{})
}

// TakeWithin is Take for the start and end of a turn, while a CLI waits: with a budget, and with an
// index kept in scratchDir, a folder for this worktree and outside of it ("" keeps none), so that
// content is read only once. TakeWithin starts two git processes if nothing has changed since the
// last snapshot, five if something has, and more only for bits that hide files, submodules, thousands
// of files, and an index that readIndex leaves to git.
//
// The error is a *MoveError if a move of files (package journal) has not ended: the files are then
// neither those from before nor those from after. Over the budget the error is ErrOverBudget, no
// process is left behind, and the result's commit is HEAD.
func (snapshots *Taker) TakeWithin(ctx context.Context, path, ref, message, scratchDir string, b Budget) (Snapshot, error) {
	admin, err := gitdir.Linked(path, snapshots.Repository.CommonDir, "")
	if err != nil {
		return Snapshot{}, err
	}
	return snapshots.takeAt(ctx, gitdir.Checkout{Path: path, AdminDir: admin}, ref, message, scratchDir, b)
}

// TakeOf commits the files of any checkout like Take, without a ref. The error is a *ConflictError
// if a merge, rebase or the like is unfinished there.
func (snapshots *Taker) TakeOf(ctx context.Context, c gitdir.Checkout, message string) (Snapshot, error) {
	if name := gitdir.Operation(c.AdminDir); name != "" {
		return Snapshot{}, git.Conflict("", "git -C "+git.Quote(c.Path)+" status", "%s: a %s is not finished there", c.Path, name)
	}
	return snapshots.takeAt(ctx, c, "", message, "", Budget{})
}

func (snapshots *Taker) takeAt(ctx context.Context, c gitdir.Checkout, ref, message, scratchDir string, b Budget) (Snapshot, error) {
	if err := snapshots.journals.SettledAt(ctx, c); err != nil {
		return Snapshot{}, err
	}
	if scratchDir != "" && !snapshots.objects.IsReader() {
		if err := os.MkdirAll(scratchDir, 0o700); err != nil {
			return Snapshot{}, err
		}
		sweepOld(scratchDir, scratchIndexPrefix, ScratchAge)
	}
	within, cancel := context.WithTimeout(ctx, cmp.Or(b.Time, math.MaxInt64))
	defer cancel()
	request := snapshotRequest{m: snapshots, top: c.Path, admin: c.AdminDir, dir: scratchDir, ref: ref, message: message, limit: b.Bytes}
	for try := 1; ; try++ {
		shot, err := request.once(ctx, within)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("%s: %w: not done in %s", c.Path, ErrOverBudget, b.Time)
		}
		if errors.Is(err, ErrOverBudget) {
			return Snapshot{Commit: snapshots.refs.HeadOf(c.AdminDir)}, err
		}
		if err == nil || try == snapshotTries || ctx.Err() != nil || !objects.Vanished(err) {
			return shot, err
		}
		if scratchDir != "" {
			os.Remove(lastFile(scratchDir)) // it may name objects that are gone
		}
	}
}

// snapshotRequest holds the parameters of a snapshot.
type snapshotRequest struct {
	m            *Taker
	top, admin   string
	dir          string // folder for scratch files and those kept by earlier snapshots, "" for none
	ref, message string
	limit        int64 // limit of bytes to save, 0 for none
}

// once makes one attempt at a snapshot. within, the budget's context, cancels only the steps whose
// time grows with number and size of the files.
func (s snapshotRequest) once(ctx, within context.Context) (Snapshot, error) {
	dir := s.dir
	if s.m.objects.IsReader() { // it reads there what was kept, and writes elsewhere
		dir = ""
	}
	l, err := s.m.LookAt(within, s.top, s.admin, dir)
	if err != nil {
		return Snapshot{}, err
	}
	defer l.Drop()
	moved := MovedFrom(within, s.top, s.admin, l.Head)
	l.Head = cmp.Or(moved, l.Head) // the commit that index and files began with
	shot := Snapshot{Commit: l.Head, Ref: s.ref, NotSaved: slices.Clone(l.Submodules), Submodules: l.Submodules, Behind: l.Behind, MovedFrom: moved, Staged: l.Staged, Unmerged: l.Unmerged}
	for _, name := range l.Embedded {
		if l.linked(name) {
			shot.LeftOut = append(shot.LeftOut, name+", a worktree of its own")
		} else {
			shot.NotSaved = append(shot.NotSaved, name)
		}
	}
	for _, name := range l.Links {
		shot.LeftOut = append(shot.LeftOut, name+", a link in place of a folder that git ignores")
	}
	slices.Sort(shot.NotSaved)
	if l.Dirty || l.Head == "" {
		var r *recording
		if shot.Commit, r, err = s.commit(ctx, within, l); err != nil {
			return Snapshot{}, err
		}
		shot.NotSaved, shot.Cause = disk.SortedPaths(shot.NotSaved, r.notSaved), r.cause
		if shot.Commit != l.Head {
			shot.Head = l.Head
		}
	}
	if s.ref == "" {
		return shot, nil
	}
	return shot, s.m.refs.Keep(ctx, shot.Commit, s.ref)
}

// commit saves the files that l has found, and returns what it could not record.
func (s snapshotRequest) commit(ctx, within context.Context, l *Look) (commit string, r *recording, err error) {
	r = l.recordingAfter(readLast(s.admin, s.dir))
	if s.limit > 0 && r.size > s.limit {
		return "", nil, fmt.Errorf("%s: %w: %d MiB to save", s.top, ErrOverBudget, r.size>>20+1)
	}
	tree, same, err := r.tree(within)
	if err != nil {
		return "", nil, err
	}
	if commit, err = s.commitOf(ctx, r, tree); err != nil {
		return "", nil, err
	}
	if (!same || commit != r.last.Commit) && s.dir != "" && !l.m.objects.IsReader() { // A kept index must name objects that last.
		r.keep(tree, commit, same)
	}
	return commit, r, nil
}

// commitOf returns the commit of a tree: HEAD if the tree equals HEAD's, the earlier snapshot if
// nothing has changed since, else a new commit.
func (s snapshotRequest) commitOf(ctx context.Context, r *recording, tree string) (string, error) {
	if !r.certain && r.Head != "" { // all changes may have been undone
		if old, err := s.m.objects.TreeOf(ctx, r.Head); old == tree || err != nil {
			return r.Head, err
		}
	}
	if r.last.Commit == "" || r.last.Tree != tree || r.last.Head != r.Head {
		return r.Commit(ctx, tree, s.message)
	}
	if s.ref == "" && !objects.Stored(s.m.Repository.CommonDir, r.last.Commit) {
		return "", objects.ErrPruned
	}
	return r.last.Commit, nil
}

// Commit makes a commit of a tree; the first parent is HEAD.
func (l *Look) Commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	if l.Head != "" {
		parents = slices.Insert(parents, 0, l.Head)
	}
	return l.m.objects.Commit(ctx, objects.NewCommit{Tree: tree, Parents: parents, Message: message, Own: true})
}
