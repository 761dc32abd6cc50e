package worktree

import (
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
	Branch   string
	From, To string // commits
	Checkout *Checkout
	Log      string // entry of the reflog
}

// Names of the steps that Advance reports, in this order.
const (
	StepLocked = "move.locked" // the index of the checkout
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

// HalfMovedError is a move that failed when files may have been written already, and could not be taken back. FinishMove
// does that when the cause is gone.
type HalfMovedError struct {
	Path string
	Err  error
}

func (e *HalfMovedError) Error() string { return fmt.Sprintf("%s: half done: %v", e.Path, e.Err) }

func (e *HalfMovedError) Unwrap() error { return e.Err }

const (
	moveScratch = "paw-move-"
	// moveMark begins the lock of an index that a move has taken, so that one that was left behind is known.
	moveMark = "paw move "
)

// Moving is the right to move branches that are worked on with paw: one process at a time, for a moment. A git that a
// killed paw has left behind still has it.
type Moving struct{ file *os.File }

// HoldMoves waits for that right. Release gives it back.
func (m Manager) HoldMoves(ctx context.Context) (*Moving, error) {
	path := filepath.Join(m.Repository.CommonDir, "paw", "move.lock")
	file, err := lockFile(ctx, path)
	if errors.Is(err, errBusy) && ctx.Err() == nil && m.Busy != nil {
		err = m.Busy(path)
	}
	if err != nil {
		return nil, err
	}
	return &Moving{file}, nil
}

// Release gives the right back.
func (g *Moving) Release() { g.file.Close() }

// Advance makes a branch, and the checkout that has it, another commit. It is refused and nothing has changed: with
// *ObstacleError when something of the user's is in the way, with ErrBranchMoved when the branch is elsewhere. Files that the
// two commits have alike stay as they are, changed or not, and what is staged stays staged. Where the files cannot be
// written, all is put back; *HalfMovedError when that failed as well.
//
// step is called after each step. Killed after any of them, FinishMove ends it.
func (m Manager) Advance(ctx context.Context, g *Moving, v Move, step func(name string)) error {
	if v.Checkout == nil {
		err := m.moveBranch(context.WithoutCancel(ctx), g, v, v.To, v.From)
		step(StepBranch)
		return err
	}
	unlock, err := lockIndex(ctx, *v.Checkout, v)
	if err != nil {
		return err
	}
	step(StepLocked)
	err = m.advanceLocked(ctx, g, v, step)
	var half *HalfMovedError
	if !errors.As(err, &half) { // else the lock keeps the user from committing a half
		unlock()
	}
	return err
}

// advanceLocked is Advance while no other git can change the index.
func (m Manager) advanceLocked(ctx context.Context, g *Moving, v Move, step func(name string)) error {
	obstacles, err := m.Obstacles(ctx, *v.Checkout, v.From, v.To)
	if err != nil {
		return err
	}
	if len(obstacles) > 0 {
		return &ObstacleError{v.Checkout.Path, obstacles}
	}
	ctx = context.WithoutCancel(ctx) // Ctrl-C must not leave half of it
	if err := m.moveBranch(ctx, g, v, v.To, v.From); err != nil {
		if tip, tipErr := m.Tip(ctx, v.Branch); tipErr != nil || tip == v.To { // it failed when all was done
			return m.takeBack(ctx, g, v, err)
		}
		return err
	}
	step(StepBranch)
	if err := m.moveFiles(ctx, g, v, step); err != nil {
		return m.takeBack(ctx, g, v, err)
	}
	return nil
}

// moveBranch is the compare-and-swap. It runs in the checkout, so that the log of its HEAD has it, too.
func (m Manager) moveBranch(ctx context.Context, g *Moving, v Move, to, from string) error {
	repo := m.home()
	if v.Checkout != nil {
		repo = in(v.Checkout.Path)
	}
	ref := "refs/heads/" + v.Branch
	err := m.changeRefs(ctx, ref, func() error {
		return repo.WithFile(g.file).Run(ctx, "update-ref", "--no-deref", "--create-reflog", "-m", v.Log, ref, to, from)
	})
	var failed *git.Error
	if errors.As(err, &failed) && failed.Said("but expected") {
		return ErrBranchMoved
	}
	return err
}

// moveFiles brings files and index from one commit to the other. Git refuses what it would overwrite; the index is put in
// place as a whole when all files are there.
func (m Manager) moveFiles(ctx context.Context, g *Moving, v Move, step func(string)) error {
	dir, err := os.MkdirTemp(v.Checkout.AdminDir, moveScratch)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	index, repo, err := scratchOf(*v.Checkout, dir)
	if err != nil {
		return err
	}
	repo = repo.WithFile(g.file)
	if err := refresh(ctx, repo); err != nil {
		return err
	}
	if err := repo.Run(ctx, quietly("-c", "submodule.recurse=false", "read-tree", "-m", "-u", v.From, v.To)...); err != nil {
		return err
	}
	step(StepFiles)
	if err := os.Rename(index, filepath.Join(v.Checkout.AdminDir, "index")); err != nil {
		return err
	}
	step(StepIndex)
	return nil
}

// refresh has git look which files are as the index says: one that was written again as it was is no change, but
// read-tree takes it for one. Exit status 1 says that there are others.
func refresh(ctx context.Context, repo git.Repo) error {
	err := repo.Run(ctx, quietly("update-index", "-q", "--refresh")...)
	if git.ExitCode(err) == 1 {
		return nil
	}
	return err
}

// scratchOf copies the index of a checkout into dir, with the user's bits and times, and returns git with the copy.
func scratchOf(c Checkout, dir string) (index string, repo git.Repo, err error) {
	index, real := filepath.Join(dir, "index"), filepath.Join(c.AdminDir, "index")
	if err := copyFile(real, index); err != nil {
		return "", repo, err
	}
	if info, err := os.Stat(real); err == nil {
		_ = os.Chmod(index, info.Mode().Perm())
	}
	return index, in(c.Path).WithEnv("GIT_INDEX_FILE=" + index), nil
}

// takeBack undoes a move whose files could not be written.
func (m Manager) takeBack(ctx context.Context, g *Moving, v Move, cause error) error {
	err := m.moveBranch(ctx, g, v, v.From, v.To)
	if err == nil {
		err = m.settle(ctx, g, v, v.From)
	}
	if err != nil {
		return &HalfMovedError{v.Checkout.Path, fmt.Errorf("%w; not taken back: %w", cause, err)}
	}
	return cause
}

// lockIndex takes git's lock of the index of a checkout, and writes into it whose it is.
func lockIndex(ctx context.Context, c Checkout, v Move) (unlock func(), err error) {
	path := filepath.Join(c.AdminDir, "index.lock")
	file, err := takeIndexLock(ctx, path, 0o644)
	if err != nil {
		return nil, err
	}
	_, err = file.WriteString(moveMark + v.From + " " + v.To + "\n")
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(path)
		return nil, err
	}
	return func() { os.Remove(path) }, nil
}
