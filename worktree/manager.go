// Package worktree makes, inspects, saves and removes the git worktrees that agents work in, and
// their branches. The package knows nothing of sessions or tmux.
//
// One invariant: the package deletes no byte that is not in a commit kept by a ref; what is in the
// way is moved to <common dir>/paw/trash.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"paw/config/disk"
	"paw/config/poll"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Manager changes the worktrees of one repository.
type Manager struct {
	Repository Repository

	// Locks takes the repository lock; nil if the caller holds it already. The lock is held while
	// the registry of worktrees changes, and never during a checkout, a hook or a set-up command.
	Locks func(ctx context.Context) (unlock func(), err error)

	// Waits is called once, when a file stays locked for longer than a usual change takes. Waits
	// tells the user who holds the lock, or returns false if waiting is useless. Nil waits
	// silently.
	Waits func(path string) bool

	// Busy makes the error when a git left behind by a killed paw, or a process left by a hook,
	// holds the registry's lock; nil means a plain error.
	Busy func(path string) error

	// Unsettled makes the error for a worktree with an unfinished move (see Journal); nil means a
	// *MoveError.
	Unsettled func(*MoveError) error

	objects *Objects  // set by WithScratch and Remembering; nil for those of Repository
	doomed  *[]string // collects trash folders to sweep later; nil sweeps them at once
}

// WithScratch returns a reader, for commands that only read: all objects that a reader makes,
// snapshots included, go to a folder outside of the repository, which drop removes. git refuses to
// set refs to such objects, as in a quarantine.
func (m Manager) WithScratch() (reader Manager, drop func(), err error) {
	o, drop, err := m.Objects().withScratch()
	m.objects = &o
	return m, drop, err
}

// Remembering returns m with a cache of facts about objects, for one command.
func (m Manager) Remembering() Manager {
	o := m.Objects().remembering()
	m.objects = &o
	return m
}

// Objects returns the object store of the repository.
func (m Manager) Objects() Objects {
	if m.objects != nil {
		return *m.objects
	}
	return newObjects(m.Repository)
}

// Refs returns the refs of the repository.
func (m Manager) Refs() Refs { return newRefs(m.Objects()) }

// Journals returns access to moves (see Journal) that have not ended.
func (m Manager) Journals() Journals { return Journals{m.Repository, m.Unsettled} }

// Snapshots returns access to snapshots of worktrees.
func (m Manager) Snapshots() Snapshots {
	return newSnapshots(m.Objects(), m.Journals())
}

// Moves returns access to moves of files, indexes and refs.
func (m Manager) Moves() Moves {
	return newMoves(m.Objects(), m.Journals(), m.waiting())
}

// Registry returns access to the registered worktrees.
func (m Manager) Registry() Registry {
	return Registry{m.Repository, m.Locks, m.Objects(), m.Journals(), m.waiting()}
}

// Trash returns access to the trash folders.
func (m Manager) Trash() Trash { return Trash{m.Repository, m.doomed} }

// Remotes returns the remotes of the repository.
func (m Manager) Remotes() Remotes { return Remotes{m.Objects()} }

// Setups returns what makes worktrees usable.
func (m Manager) Setups() Setups { return Setups{m.Repository} }

// Checks returns access to the worktrees in which checks run.
func (m Manager) Checks() Checks { return Checks{m.Repository, m} }

func (m Manager) rescues() rescues { return rescues{m.Repository, m.Objects(), m.Refs()} }
func (m Manager) folders() folders { return folders{m.Repository} }
func (m Manager) waiting() waiting { return waiting{m.Waits, m.Busy} }

// here runs git in the worktree that paw runs in, whose HEAD is meant.
func (o Objects) here() git.Repo {
	if o.Repository.Worktree != "" {
		return o.withoutRefs(in(o.Repository.Worktree))
	}
	return o.home()
}

// home runs git in the main worktree, or in the common directory if there is none. Commands that
// change the registry run here, since this directory outlives every linked worktree.
func (o Objects) home() git.Repo {
	if o.Repository.Path != "" {
		return o.withoutRefs(in(o.Repository.Path))
	}
	return o.withoutRefs(git.Repo{Dir: o.Repository.CommonDir})
}

// in runs git in the worktree at path. Without the worktree's .git file git would search the
// directories above, and act on another checkout; GIT_CEILING_DIRECTORIES prevents that.
func in(path string) git.Repo {
	return git.Repo{Dir: path}.WithEnv("GIT_CEILING_DIRECTORIES=" + filepath.Dir(path))
}

// quiet lists settings under which git runs no hooks of the user, trusts no file watcher or
// untracked cache, and writes no shared index file, as needed for private indexes.
var quiet = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
	"-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false",
	"-c", "diff.orderFile=/dev/null", // git fails if the user's file is missing
}

func quietly(args ...string) []string { return append(append([]string{}, quiet...), args...) }

// exclusive is the right to change the registry of worktrees.
type exclusive struct {
	file   *os.File // inherited by git processes that change the registry
	unlock func()
}

func (x exclusive) release() {
	x.file.Close()
	x.unlock()
}

// exclude takes the repository lock, and then waits for git processes that an earlier, killed paw
// has started: they have inherited the locked file.
func (r Registry) exclude(ctx context.Context) (exclusive, error) {
	unlock := func() {}
	if r.Locks != nil {
		var err error
		if unlock, err = r.Locks(ctx); err != nil {
			return exclusive{}, err
		}
	}
	path := filepath.Join(r.Repository.CommonDir, "paw", "registry.lock")
	file, err := r.waiting.await(ctx, path, registryWait)
	if err != nil {
		unlock()
		return exclusive{}, err
	}
	return exclusive{file: file, unlock: unlock}, nil
}

// waiting locks files that others hold briefly. The fields are those of Manager.
type waiting struct {
	Waits func(path string) bool
	Busy  func(path string) error
}

// await locks a file within patience, and calls Waits if the lock stays held.
func (w waiting) await(ctx context.Context, path string, patience time.Duration) (*os.File, error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	brief, cancelBrief := context.WithTimeout(waiting, registryChange)
	defer cancelBrief()
	file, err := lockFile(brief, path)
	if errors.Is(err, errBusy) && waiting.Err() == nil && (w.Waits == nil || w.Waits(path)) {
		file, err = lockFile(waiting, path)
	}
	if errors.Is(err, errBusy) && ctx.Err() == nil && w.Busy != nil {
		err = w.Busy(path)
	}
	return file, err
}

// registryChange is longer than a usual change of the registry takes.
const registryChange = time.Second

// lockWait limits the wait for a git whose paw was killed, and for others that are about to land,
// each of which takes seconds. registryWait limits the wait for a change of the registry or a move
// of files.
var lockWait, registryWait = time.Minute, 10 * time.Second // variables, so that tests can shorten them

// errBusy says that a git started by an earlier paw is still running.
var errBusy = errors.New("a git process is still at work here")

// lockFile locks the file at path, which is created if missing and never removed. The lock ends
// when the file is closed here and in every child that has inherited it.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := waitForLock(ctx, file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// waitForLock locks an open file within lockWait, and closes it on failure.
func waitForLock(ctx context.Context, file *os.File) error {
	locked, err := tryLock(ctx, file, lockWait)
	if locked {
		return nil
	}
	file.Close()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", errBusy, err)
	}
	return errBusy
}

// tryLock retries to lock an open file until patience has passed.
func tryLock(ctx context.Context, file *os.File, patience time.Duration) (locked bool, err error) {
	poll.Until(ctx, poll.Tick, patience, func() bool {
		locked, err = disk.TryLock(file)
		return locked || err != nil
	})
	return locked, err
}

func openLock(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
}

// ErrNotRepository says that a directory is in no git repository.
var ErrNotRepository = errors.New("not a git repository")

// ErrNoCommits says that a repository has no commit to start a branch from.
var ErrNoCommits = errors.New("the repository has no commits yet")

// RefError says that a revision names no commit.
type RefError struct{ Ref string }

func (e *RefError) Error() string { return fmt.Sprintf("%s: no such commit", e.Ref) }

// ConflictError says what is in the way of an agent's worktree or branch. Hint is a command that
// helps, "" for none. If Branch cannot be used, Free is another name that can; else both are "".
type ConflictError struct{ Agent, What, Hint, Branch, Free string }

func (e *ConflictError) Error() string {
	if e.Agent == "" {
		return e.What
	}
	return e.Agent + ": " + e.What
}

func conflict(agent, hint, format string, args ...any) *ConflictError {
	return &ConflictError{Agent: agent, What: fmt.Sprintf(format, args...), Hint: hint}
}

// MismatchError says that a directory is not the expected worktree. What is "directory",
// "repository", "registration" or "branch".
type MismatchError struct{ Path, What, Want, Got string }

func (e *MismatchError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("%s: not the expected %s (%s)", e.Path, e.What, e.Want)
	}
	return fmt.Sprintf("%s: not the expected %s: %s instead of %s", e.Path, e.What, e.Got, e.Want)
}

// NotEmptyError says that a directory is neither a repository nor empty.
type NotEmptyError struct{ Dir string }

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("%s: not a git repository and not empty", e.Dir)
}

// CorruptIndex returns the checkout and the path of the index that git could not read, "" when err
// is about something else.
func CorruptIndex(err error) (checkout, file string) {
	var failed *git.Error
	if !errors.As(err, &failed) || !failed.CorruptIndex() {
		return "", ""
	}
	admin, found := gitdir.Of(failed.Dir)
	if !found {
		return "", ""
	}
	return failed.Dir, filepath.Join(admin, "index")
}
