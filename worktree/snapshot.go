package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/worktree/git"
)

// Snapshot is the state of a worktree kept in a commit.
type Snapshot struct {
	Commit string // HEAD itself when the worktree is clean
	Ref    string
	// NotSaved are paths whose content is not in the commit: embedded repositories,
	// submodules with changes of their own, files that git could not read.
	NotSaved   []string
	Submodules []string // of those, submodules with changes of their own
	Head       string   // that it was taken on, "" where only the commit says: there was nothing to commit
	Cause      error    // what git said of the first file that it could not read or keep, nil where there is none
	Staged     bool     // the index has content that neither HEAD nor a file has
	Unmerged   bool     // there are conflicts in the index: files have the marks of them
}

// ErrRefTaken means that the ref of a snapshot exists already.
var ErrRefTaken = errors.New("the ref exists already")

// ErrOverBudget means that saving a worktree would take more than it may. What
// was recorded so far is known to the next try.
var ErrOverBudget = errors.New("over the budget of a snapshot")

// Budget bounds a snapshot. Zero is no bound.
type Budget struct {
	Time  time.Duration
	Bytes int64 // of untracked and changed files that no earlier snapshot has saved
}

// snapshotTries bounds the attempts against a `git gc --prune=now` that runs at
// the same time and takes objects no ref names yet.
const snapshotTries = 4

// snapshotAuthor signs snapshots, also where the user has not told git a name.
var snapshotAuthor = []string{
	"GIT_AUTHOR_NAME=paw", "GIT_AUTHOR_EMAIL=" + snapshotEmail,
	"GIT_COMMITTER_NAME=paw", "GIT_COMMITTER_EMAIL=" + snapshotEmail,
}

// snapshotEmail is how paw knows its own commits.
const snapshotEmail = "paw@localhost"

// Snapshots saves the files of worktrees as they are.
type Snapshots struct {
	Repository Repository

	objects  Objects
	refs     Refs
	journals Journals
}

// Take commits all files of the worktree at path as they are, untracked ones
// too, ignored ones not, with HEAD as the parent, and makes ref point to it. HEAD,
// index, files and what `git status` says stay as they are; neither a conflict nor
// a held index.lock is in the way. A clean worktree needs no commit: ref then
// points to HEAD. ErrRefTaken when there is such a ref. Without a ref none is made,
// and the commit lasts until git collects garbage.
func (snapshots Snapshots) Take(ctx context.Context, path, ref, message string) (Snapshot, error) {
	admin, err := verified(path, snapshots.Repository.CommonDir, "")
	if err != nil {
		return Snapshot{}, err
	}
	dir, err := newScratch(admin)
	if err != nil {
		return Snapshot{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return snapshots.TakeWithin(ctx, path, ref, message, dir, Budget{})
}

// TakeWithin is Snapshot for the begin and end of a turn, where somebody
// waits: within a budget, and with an index kept in scratchDir, one folder for
// each worktree and outside of it, so that content is read once only. It starts
// two git processes when nothing has changed since the last snapshot, five when
// something has, and one more when the index has.
//
// It fails with *MoveError where a move of paw has not ended: the files are neither those before nor those after it.
// Over the budget it fails with ErrOverBudget, leaves no process behind and
// returns HEAD as the commit.
func (snapshots Snapshots) TakeWithin(ctx context.Context, path, ref, message, scratchDir string, b Budget) (Snapshot, error) {
	admin, err := verified(path, snapshots.Repository.CommonDir, "")
	if err != nil {
		return Snapshot{}, err
	}
	return snapshots.takeAt(ctx, Checkout{Path: path, AdminDir: admin}, ref, message, scratchDir, b)
}

// TakeOf commits the files of a checkout that need not be one of paw's, as Take does. No ref is made. It fails with *ConflictError
// where a merge, rebase or the like is not finished there.
func (snapshots Snapshots) TakeOf(ctx context.Context, c Checkout, message string) (Snapshot, error) {
	if name := operation(c.AdminDir); name != "" {
		return Snapshot{}, conflict("", "git -C "+quote(c.Path)+" status", "%s: a %s is not finished there", c.Path, name)
	}
	dir, err := newScratch(c.AdminDir)
	if err != nil {
		return Snapshot{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return snapshots.takeAt(ctx, c, "", message, dir, Budget{})
}

func (snapshots Snapshots) takeAt(ctx context.Context, c Checkout, ref, message, scratchDir string, b Budget) (Snapshot, error) {
	if err := snapshots.journals.SettledAt(ctx, c); err != nil {
		return Snapshot{}, err
	}
	if err := os.MkdirAll(scratchDir, 0o700); err != nil {
		return Snapshot{}, err
	}
	sweepScratch(scratchDir)
	within, cancel := b.start(ctx)
	defer cancel()
	shooting := shooting{m: snapshots, top: c.Path, admin: c.AdminDir, dir: scratchDir, ref: ref, message: message, limit: b.Bytes}
	for try := 1; ; try++ {
		shot, err := shooting.once(ctx, within)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("%s: %w: not done in %s", c.Path, ErrOverBudget, b.Time)
		}
		if errors.Is(err, ErrOverBudget) {
			return Snapshot{Commit: snapshots.refs.headOf(c.AdminDir)}, err
		}
		if err == nil || try == snapshotTries || ctx.Err() != nil || !vanished(err) {
			return shot, err
		}
		forgetKept(scratchDir)
	}
}

func (b Budget) start(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.Time <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, b.Time)
}

// errPruned means that git has collected a snapshot that no ref kept.
var errPruned = errors.New("the last snapshot is gone")

// vanished reports whether git missed an object that was there a moment ago.
func vanished(err error) bool {
	if errors.Is(err, errPruned) {
		return true
	}
	var failed *git.Error
	if !errors.As(err, &failed) {
		return false
	}
	return slices.ContainsFunc([]string{
		"nonexistent object", "invalid object", "not a valid object", "unable to read", "bad object", "missing blob", "missing tree",
		"error building trees", "Not a valid object name", "Not a valid commit name", "does not point to a valid object", "could not parse",
	}, failed.Said)
}

// shooting is a request for a snapshot.
type shooting struct {
	m            Snapshots
	top, admin   string
	dir          string // for scratch files, those of earlier snapshots among them
	ref, message string
	limit        int64 // of bytes to save, 0 for none
}

// once makes one attempt. Only what takes time with the number and size of the files is cut off by the budget.
func (s shooting) once(ctx, within context.Context) (Snapshot, error) {
	l, err := s.m.lookAt(within, s.top, s.admin, s.dir)
	if err != nil {
		return Snapshot{}, err
	}
	defer l.drop()
	submodules, err := l.changedSubmodules(within)
	if err != nil {
		return Snapshot{}, err
	}
	shot := Snapshot{Commit: l.head, Ref: s.ref, NotSaved: sorted(l.embedded, submodules), Submodules: l.submodules, Staged: l.staged, Unmerged: l.unmerged}
	if l.dirty || l.head == "" {
		var r *recording
		if shot.Commit, r, err = s.commit(ctx, within, l); err != nil {
			return Snapshot{}, err
		}
		shot.NotSaved, shot.Cause = sorted(shot.NotSaved, r.notSaved), r.cause
		if shot.Commit != l.head {
			shot.Head = l.head
		}
	}
	if s.ref == "" {
		return shot, nil
	}
	return shot, s.m.refs.keep(ctx, shot.Commit, s.ref)
}

// commit saves the files that l has seen, and says what it could not record.
func (s shooting) commit(ctx, within context.Context, l *look) (commit string, r *recording, err error) {
	r, err = l.plan(within, s.admin, s.dir)
	if err != nil {
		return "", nil, err
	}
	if s.limit > 0 && r.size > s.limit {
		return "", nil, fmt.Errorf("%s: %w: %d MiB to save", s.top, ErrOverBudget, r.size>>20+1)
	}
	tree, err := r.tree(within)
	if err == nil {
		commit, err = s.commitOf(ctx, r, tree)
	}
	again := err == nil && r.unchanged() && commit == r.base.Commit && r.base.Real == l.real.hash
	if !again && !l.m.objects.reads() { // an index that is kept names objects that last
		r.keep(tree, commit)
	}
	return commit, r, err
}

// tree writes the tree of the recorded files.
func (r *recording) tree(ctx context.Context) (string, error) {
	if r.unchanged() {
		r.notSaved = r.special
		for _, name := range r.names {
			r.own[name], _ = r.base.has(name)
		}
		return r.base.Tree, nil
	}
	if err := r.run(ctx); err != nil {
		return "", err
	}
	return r.repo.Line(ctx, privately("write-tree")...)
}

// commitOf returns the commit of a tree: HEAD where all changes have been taken back, that of the earlier snapshot where nothing has
// changed since, else a new one.
func (s shooting) commitOf(ctx context.Context, r *recording, tree string) (string, error) {
	if same, err := r.isHead(ctx, tree); same || err != nil {
		return r.head, err
	}
	if r.base.Commit == "" || r.base.Tree != tree || r.base.Head != r.head {
		return r.commit(ctx, tree, s.message)
	}
	if s.ref == "" && !hasObject(s.m.Repository.CommonDir, r.base.Commit) {
		return "", errPruned
	}
	return r.base.Commit, nil
}

// isHead reports whether all changes have been taken back.
func (l *look) isHead(ctx context.Context, tree string) (bool, error) {
	if l.certain || l.head == "" {
		return false, nil
	}
	old, err := l.repo.Line(ctx, "rev-parse", "--verify", l.head+"^{tree}")
	return old == tree, err
}

// commit makes a commit of a tree with HEAD as the first parent.
func (l *look) commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := []string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree", tree}
	if l.head != "" {
		parents = slices.Concat([]string{l.head}, parents)
	}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	out, err := l.repo.WithEnv(snapshotAuthor...).Input(ctx, []byte(message), args...)
	made := strings.TrimSpace(out)
	if err == nil {
		l.m.objects.known.isTreeOf(made, tree)
	}
	return made, err
}

// headOf is the commit of a worktree's HEAD, "" when its branch is gone or has none.
func (r Refs) headOf(admin string) string {
	e := Entry{AdminDir: admin}
	e.readHead(&refReader{commonDir: r.Repository.CommonDir})
	return e.Head
}

// keep makes ref point to a commit, unless there is such a ref.
func (r Refs) keep(ctx context.Context, commit, ref string) error {
	won, err := r.Create(ctx, ref, commit)
	if err == nil && !won {
		return fmt.Errorf("%s: %w", ref, ErrRefTaken)
	}
	if err != nil || !exists(filepath.Join(r.Repository.CommonDir, "gc.pid")) {
		return err
	}
	// A gc that runs now may have decided before the ref was there: look whether
	// everything is still there.
	if err = r.objects.home().Run(ctx, "rev-list", "--objects", "--quiet", "--no-walk", commit); err != nil {
		return errors.Join(err, r.objects.home().Run(ctx, quietly("update-ref", "-d", ref, commit)...))
	}
	return nil
}
