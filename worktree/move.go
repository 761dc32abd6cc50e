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

// Move describes one move of a branch together with its checkout.
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
	StepLocked = "move.locked" // the journal is open
	StepKept   = "move.kept"   // what an interrupted rewind has left is saved
	StepFiles  = "move.files"
	StepBranch = "move.branch"
	StepIndex  = "move.index" // the index of an agent's worktree
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
	Path    string
	Session string // session whose recover ends the move, "" for none
	Rescue  string // ref of a snapshot from before the move, "" for none
	Err     error
}

func (e *HalfMovedError) Error() string {
	kept := ""
	if e.Rescue != "" {
		kept = ", everything is kept in " + e.Rescue
	}
	return fmt.Sprintf("%s: half done%s: %v", e.Path, kept, e.Err)
}

func (e *HalfMovedError) Unwrap() error { return e.Err }

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

// Advance moves a branch, and the checkout that has it, to another commit: git moves files and index,
// and then the branch. Advance returns an error and changes nothing: *ObstacleError if files are in the
// way, ErrBranchMoved if the branch is at another commit, *IndexLockedError if another git has locked
// the index, *MoveError if an earlier move has not ended there. Files that are equal in both commits
// stay as they are, changed or not, and staged changes stay staged. A checkout without an index gets no
// files. If git fails in the middle, everything is put back; if that fails, too, the error is
// *HalfMovedError.
//
// step is called after each step. If paw is killed after any of them, the branch is where it was until
// the last one, nothing is locked, and EndMove puts the files back.
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
	if err := m.journals.UnsettledAt(at.Checkout, false); err != nil {
		return err
	}
	if err := at.awaitIndex(ctx); err != nil {
		return err
	}
	other, err := m.unhindered(ctx, v)
	if err != nil {
		return err
	}
	moving := &move{m: m, at: at, also: g.file, step: step, Journal: journal.Journal{
		Command: v.Command, Refs: v.Refs, Session: v.Session, Ref: ref, Log: v.Log, From: v.From, To: v.To,
		Was: cmp.Or(v.FilesFrom, v.From), Becomes: cmp.Or(v.FilesTo, v.To),
		Skipped: other.away,
	}}
	if err := moving.write(); err != nil {
		return err
	}
	step(StepLocked)
	ctx = context.WithoutCancel(ctx) // Ctrl-C must not interrupt the move halfway.
	if err := moving.advance(ctx, other); err != nil {
		return moving.undone(ctx, err)
	}
	if err := moving.close(); err != nil {
		return &HalfMovedError{v.Checkout.Path, v.Session, "", err}
	}
	return nil
}

// unhindered refuses a move with files in the way, or that a filter keeps from being written.
func (m *Moves) unhindered(ctx context.Context, v Move) (untouched, error) {
	obstacles, other, err := m.obstacles(ctx, *v.Checkout, v.From, v.To, v.FilesFrom, v.FilesTo)
	if err == nil && len(obstacles) > 0 {
		err = &ObstacleError{v.Checkout.Path, obstacles}
	}
	if err == nil {
		err = tryFilters(ctx, *v.Checkout, func() ([]objects.Change, error) {
			return objects.Between(ctx, m.objects.Home(), cmp.Or(v.FilesFrom, v.From), cmp.Or(v.FilesTo, v.To))
		})
	}
	return other, err
}

// advance moves files and index, and then the branch.
func (v *move) advance(ctx context.Context, other untouched) error {
	if v.Was != v.From { // only an object has what the user's files are put back from
		if err := v.m.refs.Apply(ctx, v.Refs); err != nil {
			return err
		}
		v.Refs = nil
	}
	if err := v.filesAndIndex(ctx, other); err != nil {
		if git.Said(err, "index.lock': File exists") {
			err = &IndexLockedError{v.at.indexLock()}
		}
		return err
	}
	v.step(StepFiles)
	err := v.m.moveRef(ctx, v.repo(), v.Ref, v.To, v.From, v.Log, v.Refs)
	if err == nil {
		v.step(StepBranch)
	}
	return err
}

// filesAndIndex changes the files of a checkout, and its index, from one commit to the other. git
// refuses to overwrite other files, and checks all of them before it writes the first one.
func (v *move) filesAndIndex(ctx context.Context, other untouched) (err error) {
	repo := v.repo()
	if err := v.enter(ctx, v.From, v.Was); err != nil {
		return err
	}
	if err := removeConverted(v.at.Path, other.converted); err != nil {
		return err
	}
	files := plainly("read-tree", "-m", "-u", v.Was, v.Becomes)
	err = repo.RunWhole(ctx, files...)
	if git.Said(err, "not uptodate") { // or only written anew as they were
		if err = snapshot.Refresh(ctx, repo); err == nil {
			err = repo.RunWhole(ctx, files...)
		}
	}
	if err != nil {
		return err
	}
	return v.enter(ctx, v.Becomes, v.To)
}

// removeConverted removes files that are as git checks them out, though git lists them as changed and would refuse to overwrite
// them. One that is not as it was seen stays.
func removeConverted(top string, files map[string]os.FileInfo) error {
	for name, seen := range files {
		path := filepath.Join(top, name)
		if now, err := os.Lstat(path); err == nil && os.SameFile(now, seen) && now.Size() == seen.Size() && now.ModTime().Equal(seen.ModTime()) {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainly adds settings to the arguments of a git that moves the files of a checkout: without the user's
// hooks, which belong to his own commands, without trust in a file watcher, and without moving submodules.
func plainly(args ...string) []string {
	return append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"}, args...)
}

// enter sets index entries to those of the tree named by to, at the paths where from and to differ,
// and refreshes the index.
func (v *move) enter(ctx context.Context, from, to string) error {
	if from == to {
		return nil
	}
	changes, err := objects.Between(ctx, v.m.objects.Home(), from, to)
	if err == nil {
		_, err = v.repo().Input(ctx, indexInfo(changes, objects.Change.Entry), plainly("update-index", "-z", "--index-info")...)
	}
	if err != nil {
		return err
	}
	return snapshot.Refresh(ctx, v.repo())
}

// undone puts everything back after a failure, and returns the cause.
func (v *move) undone(ctx context.Context, cause error) error {
	var left []string
	var err error
	if v.From != v.To && v.m.head(ctx, v.at.Checkout) == v.To { // git has moved the branch, and failed
		err = v.m.moveRef(ctx, v.repo(), v.Ref, v.From, v.To, v.Log, nil)
	}
	if err == nil {
		left, err = v.putBack(ctx)
	}
	if err == nil {
		err = v.close()
	}
	switch {
	case err != nil:
		return &HalfMovedError{v.at.Path, v.Session, "", fmt.Errorf("%w; not taken back: %w", cause, err)}
	case len(left) > 0:
		return fmt.Errorf("%w; %s", cause, strangers(left))
	}
	return cause
}

// repo returns git for the worktree of the move. The git process inherits the lock of the move.
func (v *move) repo() git.Repo {
	repo := git.In(v.at.Path).WithFile(v.at.file)
	if v.also != nil {
		repo = repo.WithFile(v.also)
	}
	return repo
}

// moveRef moves a ref from one commit to another, and fails if the ref is elsewhere; others (name ->
// id) are made in the same transaction. moveRef runs in the checkout, so that HEAD's reflog gets the
// entry, too. Hooks of the user run for the user's branches, and not for agents'.
func (m *Moves) moveRef(ctx context.Context, repo git.Repo, ref, to, from, log string, others []refs.Change) error {
	args := []string{"-c", "core.logAllRefUpdates=true", "update-ref", "--no-deref", "-m", log}
	if ref == "HEAD" {
		args = git.Quietly("-c", "core.logAllRefUpdates=true", "update-ref", "-m", log)
	}
	err := m.refs.Asked(ctx, repo, ref, []refs.Change{{Ref: ref, To: to, From: from}}, others, args...)
	switch moved := git.Said(err, "but expected"); {
	case moved && git.Said(err, "'"+ref+"'"):
		return ErrBranchMoved
	case moved:
		return fmt.Errorf("%w: %w", refs.ErrMoved, err)
	}
	return err
}

// head returns the commit of a worktree's HEAD, "" for none.
func (m *Moves) head(ctx context.Context, c gitdir.Checkout) string {
	if head := m.refs.HeadOf(c.AdminDir); head != "" {
		return head
	}
	head, _ := git.In(c.Path).Line(ctx, git.Quietly("rev-parse", "--verify", "--quiet", "HEAD^{commit}")...)
	return head
}

// branchAt returns the branch that a worktree is on, "HEAD" for none.
func (m *Moves) branchAt(c gitdir.Checkout) string {
	branch, _ := gitdir.Head(c.AdminDir, &gitdir.Refs{CommonDir: m.Repository.CommonDir})
	return cmp.Or(branch, "HEAD")
}
