package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
)

// Move is one move of a branch, and of the checkout that has it. Nobody may have the branch between the two: the index of
// the checkout is locked all the time.
type Move struct {
	Branch    string
	From, To  string // commits
	FilesFrom string // commit of From with files of the checkout that may go though they are not committed there, "" for none
	FilesTo   string // commit of To with files that the checkout gets as changes that are not committed, "" for none
	Checkout  *Checkout
	Log       string // entry of the reflog
	Command   string // that moves, for whoever finds it half done
	Session   string // whose recover ends it then
}

// Moves moves files, indexes and the refs that HEADs are, so that a process that is killed in the middle leaves what EndMove ends.
type Moves struct {
	Repository Repository

	objects   Objects
	refs      Refs
	journals  Journals
	snapshots Snapshots
	waiting   waiting
}

// Names of the steps that Advance and Rewind report.
const (
	StepLocked = "move.locked" // the index of the checkout, and the journal is open
	StepBranch = "move.branch"
	StepFiles  = "move.files"
	StepIndex  = "move.index"
)

// ErrBranchMoved means that a branch is not where a move begins.
var ErrBranchMoved = errors.New("the branch has moved")

// ObstacleError are paths in the way of a move. Nothing has changed.
type ObstacleError struct {
	Path      string // of the checkout
	Obstacles []Obstacle
}

func (e *ObstacleError) Error() string {
	names := make([]string, 0, len(e.Obstacles))
	for _, o := range e.Obstacles {
		names = append(names, o.String())
	}
	return e.Path + ": " + strings.Join(names, ", ")
}

// HalfMovedError is a move that failed when files may have been written already, and could not be taken back: its journal is
// open. EndMove ends it when the cause is gone.
type HalfMovedError struct {
	Path   string
	Rescue string // ref with everything that was there, "" for none
	Err    error
}

func (e *HalfMovedError) Error() string {
	kept := ""
	if e.Rescue != "" {
		kept = ", everything is kept in " + e.Rescue
	}
	return fmt.Sprintf("%s: half done%s: %v", e.Path, kept, e.Err)
}

func (e *HalfMovedError) Unwrap() error { return e.Err }

const moveScratch = "paw-move-"

// Moving is the right to move branches that are worked on with paw: one process at a time, for a moment. A git that a
// killed paw has left behind still has it.
type Moving struct{ file *os.File }

// Hold waits for that right, up to a minute. Release gives it back.
func (m Moves) Hold(ctx context.Context) (*Moving, error) {
	file, err := m.waiting.await(ctx, filepath.Join(m.Repository.CommonDir, "paw", "move.lock"), lockWait)
	if err != nil {
		return nil, err
	}
	return &Moving{file}, nil
}

// Release gives the right back.
func (g *Moving) Release() { g.file.Close() }

// Advance makes a branch, and the checkout that has it, another commit. It is refused and nothing has changed: with
// *ObstacleError when something of the user's is in the way, with ErrBranchMoved when the branch is elsewhere, with
// *IndexLockedError when another git has the index, with *MoveError when an earlier move has not ended there. Files that the
// two commits have alike stay as they are, changed or not, and what is staged stays staged. A checkout without an index has
// no files of the branch, and gets none. Where the files cannot be written, all is put back; *HalfMovedError when that
// failed as well.
//
// step is called after each step. Killed after any of them, EndMove ends it.
func (m Moves) Advance(ctx context.Context, g *Moving, v Move, step func(name string)) error {
	ref := "refs/heads/" + v.Branch
	if v.Checkout == nil || !exists(filepath.Join(v.Checkout.AdminDir, "index")) {
		repo := m.objects.home()
		if v.Checkout != nil {
			repo = in(v.Checkout.Path)
		}
		err := m.moveRef(context.WithoutCancel(ctx), repo.WithFile(g.file), ref, v.To, v.From, v.Log)
		step(StepBranch)
		return err
	}
	at, err := m.lockPlace(ctx, *v.Checkout)
	if err != nil {
		return err
	}
	defer at.release()
	if err := m.unlockStale(at); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(v.Checkout.AdminDir, moveScratch)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	journal := Journal{
		Command: v.Command, Session: v.Session, Ref: ref, Log: v.Log, From: v.From, To: v.To,
		Was: cmp.Or(v.FilesFrom, v.From), Becomes: cmp.Or(v.FilesTo, v.To),
	}
	var hides hidden
	moving, err := m.begin(ctx, at, &journal, func() error {
		obstacles, found, err := m.obstacles(ctx, *v.Checkout, v.From, v.To, v.FilesFrom, newScratchIndex(dir))
		if err == nil && len(obstacles) > 0 {
			err = &ObstacleError{v.Checkout.Path, obstacles}
		}
		hides, journal.Absent, journal.Assumed = found, found.absent, found.staying(found.assumed)
		return err
	})
	if err != nil {
		return err
	}
	moving.also, moving.step = g.file, step
	step(StepLocked)
	return moving.carry(ctx, func(ctx context.Context) (string, error) { return moving.filesAndIndex(ctx, dir, hides) },
		func(context.Context, string) error { return nil })
}

// filesAndIndex brings the files of a checkout, and a copy of its index, from one commit to the other. Git refuses what it
// would overwrite.
func (v *move) filesAndIndex(ctx context.Context, dir string, hides hidden) (index string, err error) {
	index, repo, err := v.refreshedIndex(ctx, dir, hides)
	if err != nil {
		return "", err
	}
	if err := v.enter(ctx, repo, v.From, v.Was); err != nil {
		return "", err
	}
	if err := repo.RunWhole(ctx, quietly("-c", "submodule.recurse=false", "read-tree", "-m", "-u", v.Was, v.Becomes)...); err != nil {
		return "", err
	}
	if err := v.enter(ctx, repo, v.Becomes, v.To); err != nil {
		return "", err
	}
	for _, name := range v.Absent {
		if path := filepath.Join(v.at.Path, name); isFile(path) {
			if err := os.Remove(path); err != nil {
				return "", err
			}
		}
	}
	return index, hides.mark(ctx, repo)
}

// enter makes the entries of an index those of a tree, for what differs from another one, and has git look at these files.
func (v *move) enter(ctx context.Context, repo git.Repo, from, to string) error {
	if from == to {
		return nil
	}
	changes, err := changesBetween(ctx, v.m.objects.home(), from, to)
	if err == nil {
		_, err = repo.Input(ctx, indexInfo(changes, change.entry), quietly("update-index", "-z", "--index-info")...)
	}
	if err != nil {
		return err
	}
	return refresh(ctx, repo)
}

// refreshedIndex is a copy of the index in which git has looked at each file: that of the look at what is in the way, while the index has been
// locked since, or a new one.
func (v *move) refreshedIndex(ctx context.Context, dir string, hides hidden) (index string, repo git.Repo, err error) {
	if hides.refreshed != "" {
		v.likeReal(hides.refreshed)
		return hides.refreshed, v.repo().WithEnv("GIT_INDEX_FILE=" + hides.refreshed), nil
	}
	index, repo, err = v.scratchIndex(filepath.Join(v.at.AdminDir, "index"), dir)
	if err == nil {
		err = hides.refresh(ctx, repo)
	}
	return index, repo, err
}

// likeReal gives a file the permissions of the index of the place.
func (v *move) likeReal(index string) {
	if info, err := os.Stat(filepath.Join(v.at.AdminDir, "index")); err == nil {
		_ = os.Chmod(index, info.Mode().Perm())
	}
}

// carry moves the ref, the files and the index, in the order that the journal says, and ends the journal. What fails is taken
// back. files writes files and returns a file that becomes the index, once reindex is done with it.
func (v *move) carry(ctx context.Context, files func(context.Context) (string, error), reindex func(context.Context, string) error) error {
	ctx = context.WithoutCancel(ctx) // Ctrl-C must not leave half of it
	if err := v.forward(ctx, files, reindex); err != nil {
		return v.takeBack(ctx, err)
	}
	if err := v.done(); err != nil {
		return &HalfMovedError{v.at.Path, v.Rescue, err}
	}
	return nil
}

func (v *move) forward(ctx context.Context, files func(context.Context) (string, error), reindex func(context.Context, string) error) error {
	if !v.HeadLast {
		if err := v.moveHead(ctx, v.To, v.From); err != nil {
			return err
		}
	}
	v.touched = true
	index, err := files(ctx)
	if err != nil {
		return err
	}
	v.step(StepFiles)
	if err := reindex(ctx, index); err != nil {
		return err
	}
	if err := v.install(index); err != nil {
		return err
	}
	v.step(StepIndex)
	if v.HeadLast {
		return v.moveHead(ctx, v.To, v.From)
	}
	return nil
}

// install makes a file the index of the place, as a whole.
func (v *move) install(index string) error {
	return os.Rename(index, filepath.Join(v.at.AdminDir, "index"))
}

// repo is git at the place, which has the right to move what is there for as long as it runs.
func (v *move) repo() git.Repo {
	repo := in(v.at.Path).WithFile(v.at.file)
	if v.also != nil {
		repo = repo.WithFile(v.also)
	}
	return repo
}

// moveHead moves the ref of the place.
func (v *move) moveHead(ctx context.Context, to, from string) error {
	if to == from {
		return nil
	}
	err := v.m.moveRef(ctx, v.repo(), v.Ref, to, from, v.Log)
	if err == nil {
		v.step(StepBranch)
	}
	return err
}

// moveRef is the compare-and-swap of a ref. It runs in the checkout, so that the log of its HEAD has it, too. The user's hooks
// have a say in where branches of his go, and none in agents'.
func (m Moves) moveRef(ctx context.Context, repo git.Repo, ref, to, from, log string) error {
	args := []string{"update-ref", "--no-deref", "--create-reflog", "-m", log, ref, to, from}
	if ref == "HEAD" {
		args = quietly("update-ref", "--create-reflog", "-m", log, ref, to, from)
	}
	err := m.refs.change(ctx, ref, func() error { return repo.Run(ctx, args...) })
	var failed *git.Error
	if errors.As(err, &failed) && failed.Said("but expected") {
		return ErrBranchMoved
	}
	return err
}

// takeBack undoes a move that failed.
func (v *move) takeBack(ctx context.Context, cause error) error {
	var err error
	if v.From != v.To && v.m.head(ctx, v.at.Checkout) == v.To {
		err = v.moveHead(ctx, v.From, v.To)
	}
	if err == nil && v.touched {
		err = v.settle(ctx, false)
	}
	if err == nil {
		err = v.close()
	}
	if err != nil {
		return &HalfMovedError{v.at.Path, v.Rescue, fmt.Errorf("%w; not taken back: %w", cause, err)}
	}
	return cause
}

// head is the commit of the HEAD of a place, "" when it has none.
func (m Moves) head(ctx context.Context, c Checkout) string {
	if head := m.refs.headOf(c.AdminDir); head != "" {
		return head
	}
	head, _ := in(c.Path).Line(ctx, quietly("rev-parse", "--verify", "--quiet", "HEAD^{commit}")...)
	return head
}

// scratchIndex copies an index into dir, with the user's bits and times, and returns git with the copy.
func (v *move) scratchIndex(of, dir string) (index string, repo git.Repo, err error) {
	index = newScratchIndex(dir)
	if err := copyFile(of, index); err != nil {
		return "", repo, err
	}
	v.likeReal(index)
	return index, v.repo().WithEnv("GIT_INDEX_FILE=" + index), nil
}

// refresh has git look which files are as the index says: one that was written again as it was is no change, but
// read-tree takes it for one. Exit status 1 says that there are others.
func refresh(ctx context.Context, repo git.Repo) error {
	err := unasked(func(options []string) error {
		return repo.Run(ctx, quietly(append(options, "update-index", "-q", "--refresh")...)...)
	})
	if git.ExitCode(err) == 1 {
		return nil
	}
	return err
}
