package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
)

// Move describes one move of a branch together with its checkout. The checkout's index is locked
// meanwhile, so nobody can use the branch between the two steps.
type Move struct {
	Branch    string
	From, To  string // commits of the branch
	FilesFrom string // commit of From plus uncommitted files of the checkout that may be overwritten, "" for none
	FilesTo   string // commit of To plus files that the checkout gets as uncommitted changes, "" for none
	Checkout  *gitdir.Checkout
	Log       string        // message for the reflog
	Command   string        // command that moves, for messages about an unfinished move
	Session   string        // session whose recover ends an unfinished move
	Refs      []refs.Change // made as the branch moves: all of them and the move, or none
}

// Moves moves files, indexes and the refs of HEADs. If paw is killed in the middle, EndMove ends
// the move.
type Moves struct {
	Repository gitdir.Repository

	objects   *objects.Store
	refs      *refs.Store
	journals  journal.Reader
	snapshots *snapshot.Taker
	waiting   gitdir.Waiting
}

// Names of the steps that Advance and Rewind report.
const (
	StepLocked = "move.locked" // the checkout's index is locked, and the journal open
	StepBranch = "move.branch"
	StepFiles  = "move.files"
	StepIndex  = "move.index"
)

// ErrBranchMoved says that a branch is not at the commit from which it was to be moved.
var ErrBranchMoved = errors.New("the branch has moved")

// ObstacleError lists the paths in the way of a move. Nothing has changed.
type ObstacleError struct {
	Path      string // directory of the checkout
	Obstacles []Obstacle
}

func (e *ObstacleError) Error() string {
	names := make([]string, 0, len(e.Obstacles))
	for _, o := range e.Obstacles {
		names = append(names, o.String())
	}
	return e.Path + ": " + strings.Join(names, ", ")
}

// HalfMovedError says that a move failed after files may have been written, and could not be
// undone. The journal is still open; EndMove ends the move once the cause is gone.
type HalfMovedError struct {
	Path   string
	Rescue string // ref of a snapshot from before the move, "" for none
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

// Moving is the right to move branches of a repository: one process at a time has it, briefly. A
// git left behind by a killed paw keeps it until it ends.
type Moving struct{ file *os.File }

// Hold waits for the right to move branches, up to lockWait.
func (m *Moves) Hold(ctx context.Context) (*Moving, error) {
	file, err := m.waiting.Await(ctx, filepath.Join(m.Repository.CommonDir, "paw", "move.lock"), gitdir.LockWait)
	if err != nil {
		return nil, err
	}
	return &Moving{file}, nil
}

// Release gives up the right to move branches.
func (g *Moving) Release() { g.file.Close() }

// Advance moves a branch, and the checkout that has it, to another commit. Advance returns an error
// and changes nothing: *ObstacleError if files are in the way, ErrBranchMoved if the branch is at
// another commit, *IndexLockedError if another git has locked the index, *MoveError if an earlier
// move has not ended there. Files that are equal in both commits stay as they are, changed or not,
// and staged changes stay staged. A checkout without an index gets no files. If files cannot be
// written, everything is undone; if that fails, too, the error is *HalfMovedError.
//
// step is called after each step. If paw is killed after any of them, EndMove ends the move.
func (m *Moves) Advance(ctx context.Context, g *Moving, v Move, step func(name string)) error {
	ref := "refs/heads/" + v.Branch
	if v.Checkout == nil || !disk.Exists(filepath.Join(v.Checkout.AdminDir, "index")) {
		repo := m.objects.Home()
		if v.Checkout != nil {
			repo = git.In(v.Checkout.Path)
		}
		err := m.moveRef(context.WithoutCancel(ctx), repo.WithFile(g.file), ref, v.To, v.From, v.Log, v.Refs)
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
	journal := journal.Journal{
		Command: v.Command, Session: v.Session, Ref: ref, Log: v.Log, From: v.From, To: v.To,
		Was: cmp.Or(v.FilesFrom, v.From), Becomes: cmp.Or(v.FilesTo, v.To),
	}
	var hides hidden
	moving, err := m.begin(ctx, at, &journal, func() error {
		obstacles, found, err := m.obstacles(ctx, *v.Checkout, v.From, v.To, v.FilesFrom, snapshot.NewScratchIndex(dir))
		if err == nil && len(obstacles) > 0 {
			err = &ObstacleError{v.Checkout.Path, obstacles}
		}
		hides, journal.Absent, journal.Assumed = found, found.absent, found.staying(found.assumed)
		return err
	})
	if err != nil {
		return err
	}
	moving.also, moving.step, moving.refs = g.file, step, v.Refs
	step(StepLocked)
	return moving.carry(ctx, func(ctx context.Context) (string, error) { return moving.filesAndIndex(ctx, dir, hides) },
		func(context.Context, string) error { return nil })
}

// filesAndIndex changes the files of a checkout, and a copy of its index, from one commit to the
// other. git refuses to overwrite other files.
func (v *move) filesAndIndex(ctx context.Context, dir string, hides hidden) (index string, err error) {
	index, repo, err := v.refreshedIndex(ctx, dir, hides)
	if err != nil {
		return "", err
	}
	if err := v.enter(ctx, repo, v.From, v.Was); err != nil {
		return "", err
	}
	if err := hides.clear(ctx, v.at.Path); err != nil {
		return "", err
	}
	if err := repo.RunWhole(ctx, git.Quietly("-c", "submodule.recurse=false", "read-tree", "-m", "-u", v.Was, v.Becomes)...); err != nil {
		return "", err
	}
	if err := v.enter(ctx, repo, v.Becomes, v.To); err != nil {
		return "", err
	}
	for _, name := range v.Absent {
		if path := filepath.Join(v.at.Path, name); disk.IsFile(path) {
			if err := os.Remove(path); err != nil {
				return "", err
			}
		}
	}
	return index, hides.mark(ctx, repo)
}

// enter sets index entries to those of the tree named by to, at the paths where from and to differ,
// and refreshes the index.
func (v *move) enter(ctx context.Context, repo git.Repo, from, to string) error {
	if from == to {
		return nil
	}
	changes, err := objects.Between(ctx, v.m.objects.Home(), from, to)
	if err == nil {
		_, err = repo.Input(ctx, indexInfo(changes, objects.Change.Entry), git.Quietly("update-index", "-z", "--index-info")...)
	}
	if err != nil {
		return err
	}
	return snapshot.Refresh(ctx, repo)
}

// refreshedIndex returns a refreshed copy of the index: the one that obstacles has kept, while the
// index has been locked since, or a new one.
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

// likeReal gives a file the permissions of the worktree's index.
func (v *move) likeReal(index string) {
	if info, err := os.Stat(filepath.Join(v.at.AdminDir, "index")); err == nil {
		_ = os.Chmod(index, info.Mode().Perm())
	}
}

// carry moves ref, files and index in the order that the journal says, and closes the journal. A
// failure is undone. files writes the files, and returns a file that becomes the index after
// reindex has changed it.
func (v *move) carry(ctx context.Context, files func(context.Context) (string, error), reindex func(context.Context, string) error) error {
	ctx = context.WithoutCancel(ctx) // Ctrl-C must not interrupt the move halfway.
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
		if err := v.moveHead(ctx, v.To, v.From, v.refs); err != nil {
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
		return v.moveHead(ctx, v.To, v.From, nil)
	}
	return nil
}

// install renames a file to the worktree's index.
func (v *move) install(index string) error {
	return os.Rename(index, filepath.Join(v.at.AdminDir, "index"))
}

// repo returns git for the worktree of the move. The git process inherits the lock of the move.
func (v *move) repo() git.Repo {
	repo := git.In(v.at.Path).WithFile(v.at.file)
	if v.also != nil {
		repo = repo.WithFile(v.also)
	}
	return repo
}

// moveHead moves the ref that HEAD of the worktree is at, and makes refs.
func (v *move) moveHead(ctx context.Context, to, from string, refs []refs.Change) error {
	if to == from {
		return nil
	}
	err := v.m.moveRef(ctx, v.repo(), v.Ref, to, from, v.Log, refs)
	if err == nil {
		v.step(StepBranch)
	}
	return err
}

// moveRef moves a ref from one commit to another, and fails if the ref is elsewhere; others (name ->
// id) are made in the same transaction. moveRef runs in the checkout, so that HEAD's reflog gets the
// entry, too. Hooks of the user run for the user's branches, and not for agents'.
func (m *Moves) moveRef(ctx context.Context, repo git.Repo, ref, to, from, log string, others []refs.Change) error {
	args := []string{"-c", "core.logAllRefUpdates=true", "update-ref", "--no-deref", "-m", log}
	if ref == "HEAD" {
		args = git.Quietly("update-ref", "--create-reflog", "-m", log)
	}
	err := m.refs.Asked(ctx, repo, ref, []refs.Change{{Ref: ref, To: to, From: from}}, others, args...)
	if failed, ok := errors.AsType[*git.Error](err); ok && failed.Said("but expected") {
		if failed.Said("'" + ref + "'") {
			return ErrBranchMoved
		}
		return fmt.Errorf("%w: %w", refs.ErrMoved, err)
	}
	return err
}

func (v *move) takeBack(ctx context.Context, cause error) error {
	var err error
	if v.From != v.To && v.m.head(ctx, v.at.Checkout) == v.To {
		err = v.moveHead(ctx, v.From, v.To, nil)
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

// head returns the commit of a worktree's HEAD, "" for none.
func (m *Moves) head(ctx context.Context, c gitdir.Checkout) string {
	if head := m.refs.HeadOf(c.AdminDir); head != "" {
		return head
	}
	head, _ := git.In(c.Path).Line(ctx, git.Quietly("rev-parse", "--verify", "--quiet", "HEAD^{commit}")...)
	return head
}

// scratchIndex copies an index into dir, with its permissions and times, and returns git with the
// copy.
func (v *move) scratchIndex(of, dir string) (index string, repo git.Repo, err error) {
	index = snapshot.NewScratchIndex(dir)
	if err := disk.CopyFile(of, index); err != nil {
		return "", repo, err
	}
	v.likeReal(index)
	return index, v.repo().WithEnv("GIT_INDEX_FILE=" + index), nil
}
