// Package worktree makes, inspects, saves and removes the git worktrees that
// agents work in, and their branches. It knows nothing of sessions or tmux.
//
// One invariant holds throughout: nothing here deletes a byte that is not in a
// commit some ref keeps; what is in the way is moved into <common dir>/paw/trash.
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
)

// Manager changes the worktrees of one repository.
type Manager struct {
	Repository Repository

	// Locks takes the repository lock; nil is for callers that hold it already.
	// It is held while the registry of worktrees changes, never across a checkout,
	// a hook or a set-up command.
	Locks func(ctx context.Context) (unlock func(), err error)

	// Waits is asked once, when a file is held for longer than a change of the registry or a move of files takes: it tells the
	// user who is waited for, or returns false where waiting is of no use. Nil waits in silence.
	Waits func(path string) bool

	// Busy words the refusal when a git that nobody waits for any more, or what a hook
	// of it has left behind, holds the file of the registry; nil for plain words.
	Busy func(path string) error

	// Unsettled words the refusal of a place where a move of files has not ended; nil for plain words.
	Unsettled func(*MoveError) error

	scratch quarantine // of a reader, see WithScratch
	known   *known     // see Remembering
	doomed  *[]string  // trash folders to sweep later, nil to sweep them at once
}

// Objects returns the object store of the repository.
func (m Manager) Objects() Objects { return Objects{m.Repository, m.scratch, m.known} }

// Refs returns the refs of the repository.
func (m Manager) Refs() Refs { return Refs{m.Repository, m.Objects()} }

// Journals returns what says which moves of files have not ended.
func (m Manager) Journals() Journals { return Journals{m.Repository, m.Unsettled} }

// Snapshots returns what saves the files of worktrees as they are.
func (m Manager) Snapshots() Snapshots {
	return Snapshots{m.Repository, m.Objects(), m.Refs(), m.Journals()}
}

// Moves returns what moves files, indexes and the refs that HEADs are.
func (m Manager) Moves() Moves {
	return Moves{m.Repository, m.Objects(), m.Refs(), m.Journals(), m.Snapshots(), m.waiting()}
}

// Registry returns the worktrees that git knows of.
func (m Manager) Registry() Registry {
	return Registry{m.Repository, m.Locks, m.Objects(), m.Journals(), m.waiting()}
}

// Trash returns the folders of what was taken away.
func (m Manager) Trash() Trash { return Trash{m.Repository, m.doomed} }

// Remotes returns the remotes of the repository.
func (m Manager) Remotes() Remotes { return Remotes{m.Objects()} }

// Checks returns the worktrees in which states are looked at.
func (m Manager) Checks() Checks { return Checks{m.Repository, m} }

func (m Manager) rescues() rescues { return rescues{m.Repository, m.Objects(), m.Refs()} }
func (m Manager) folders() folders { return folders{m.Repository} }
func (m Manager) waiting() waiting { return waiting{m.Waits, m.Busy} }

// here is git where the user stands: HEAD is the HEAD of that worktree.
func (o Objects) here() git.Repo {
	if o.Repository.Worktree != "" {
		return o.withoutRefs(in(o.Repository.Worktree))
	}
	return o.home()
}

// home is git in the main worktree, or in the common directory where there is
// none. Commands that change the registry run here: it outlives every worktree.
func (o Objects) home() git.Repo {
	if o.Repository.Path != "" {
		return o.withoutRefs(in(o.Repository.Path))
	}
	return o.withoutRefs(git.Repo{Dir: o.Repository.CommonDir})
}

// in is git in the worktree at path and nowhere else: without its .git file git
// would go on to look in the directories above and act on another checkout.
func in(path string) git.Repo {
	return git.Repo{Dir: path}.WithEnv("GIT_CEILING_DIRECTORIES=" + filepath.Dir(path))
}

// quiet are settings under which git neither runs the user's hooks for a private index, nor trusts what a watcher or
// cache says of the files, nor writes a part of the index beside the real one.
var quiet = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
	"-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false",
	"-c", "diff.orderFile=/dev/null", // one that is missing makes git fail
}

func quietly(args ...string) []string { return append(append([]string{}, quiet...), args...) }

// exclusive is the right to change the registry of worktrees.
type exclusive struct {
	file   *os.File // children that change the registry inherit it
	unlock func()
}

func (x exclusive) release() {
	x.file.Close()
	x.unlock()
}

// exclude takes the repository lock, then waits for git processes that an
// earlier paw started under it and was killed before they ended: they inherited
// the file that is locked here.
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

// waiting locks files that others hold for moments. Its fields are those of Manager.
type waiting struct {
	Waits func(path string) bool
	Busy  func(path string) error
}

// await locks a file within a patience, and says whom it waits for.
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

// registryChange is more than a change of the registry takes.
const registryChange = time.Second

// lockWait bounds the wait for a git process that nobody waits for any more, and for those that stand in line to land, each of
// which takes seconds; registryWait for one that changes the registry or moves files, which takes moments.
var lockWait, registryWait = time.Minute, 10 * time.Second // tests do not wait that long

// errBusy means that a git process of an earlier paw is still at work.
var errBusy = errors.New("a git process is still at work here")

// lockFile locks the file at path, which is made when missing and never removed.
// The lock ends when the file is closed here and in every child that inherited it.
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

// waitForLock locks an open file, or closes it.
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

// tryLock tries to lock an open file for some time, as long as somebody else has it locked.
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

// ErrNotRepository means that a directory lies in no git repository.
var ErrNotRepository = errors.New("not a git repository")

// ErrNoCommits means that a repository has no commit to start a branch from.
var ErrNoCommits = errors.New("the repository has no commits yet")

// RefError is a revision that names no commit.
type RefError struct{ Ref string }

func (e *RefError) Error() string { return fmt.Sprintf("%s: no such commit", e.Ref) }

// ConflictError is something in the way of an agent's worktree or branch. Hint
// is a way out, "" when there is none to name. Free is a branch that could be used instead of Branch, both "" where the
// conflict is another one.
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

// MismatchError is a directory that is not the worktree it should be. What is
// "directory", "repository", "registration" or "branch".
type MismatchError struct{ Path, What, Want, Got string }

func (e *MismatchError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("%s: not the expected %s (%s)", e.Path, e.What, e.Want)
	}
	return fmt.Sprintf("%s: not the expected %s: %s instead of %s", e.Path, e.What, e.Got, e.Want)
}

// NotEmptyError is a directory that is no repository and not empty either.
type NotEmptyError struct{ Dir string }

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("%s: not a git repository and not empty", e.Dir)
}

// CorruptIndex is the checkout, and the file in it, of an index that git could not read, "" when err says nothing of one.
func CorruptIndex(err error) (checkout, file string) {
	var failed *git.Error
	if !errors.As(err, &failed) || !failed.CorruptIndex() {
		return "", ""
	}
	admin, found := gitDirOf(failed.Dir)
	if !found {
		return "", ""
	}
	return failed.Dir, filepath.Join(admin, "index")
}
