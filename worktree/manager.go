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

	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
)

// Manager changes the worktrees of one repository.
type Manager struct {
	Repository gitdir.Repository

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
	Unsettled func(*journal.MoveError) error

	objects *objects.Store // set by WithScratch and Remembering; nil for those of Repository
	doomed  *[]string      // collects trash folders to sweep later; nil sweeps them at once
}

// WithScratch returns a reader, for commands that only read: all objects that a reader makes,
// snapshots included, go to a folder outside of the repository, which drop removes. git refuses to
// set refs to such objects, as in a quarantine.
func (m Manager) WithScratch() (reader Manager, drop func(), err error) {
	o, drop, err := m.Objects().WithScratch()
	m.objects = &o
	return m, drop, err
}

// Remembering returns m with a cache of facts about objects, for one command.
func (m Manager) Remembering() Manager {
	o := m.Objects().Remembering()
	m.objects = &o
	return m
}

// Objects returns the object store of the repository.
func (m Manager) Objects() objects.Store {
	if m.objects != nil {
		return *m.objects
	}
	return objects.New(m.Repository)
}

// Refs returns the refs of the repository.
func (m Manager) Refs() refs.Store { return refs.New(m.Objects()) }

// Journals returns access to moves (see Journal) that have not ended.
func (m Manager) Journals() journal.Reader {
	return journal.Reader{Repository: m.Repository, Unsettled: m.Unsettled}
}

// Snapshots returns access to snapshots of worktrees.
func (m Manager) Snapshots() snapshot.Taker {
	return snapshot.New(m.Objects(), m.Journals())
}

// Moves returns access to moves of files, indexes and refs.
func (m Manager) Moves() Moves {
	return newMoves(m.Objects(), m.Journals(), m.waiting())
}

// Registry returns access to the registered worktrees.
func (m Manager) Registry() Registry {
	return Registry{m.Repository, m.Locks, m.Objects(), m.Journals(), m.waiting()}
}

// Remotes returns the remotes of the repository.
func (m Manager) Remotes() Remotes { return Remotes{m.Objects()} }

// Setups returns what makes worktrees usable.
func (m Manager) Setups() Setups { return Setups{m.Repository} }

func (m Manager) rescues() rescues        { return rescues{m.Repository, m.Objects(), m.Refs()} }
func (m Manager) folders() folders        { return folders{m.Repository} }
func (m Manager) waiting() gitdir.Waiting { return gitdir.Waiting{Waits: m.Waits, Busy: m.Busy} }

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
	file, err := r.waiting.Await(ctx, path, gitdir.RegistryWait)
	if err != nil {
		unlock()
		return exclusive{}, err
	}
	return exclusive{file: file, unlock: unlock}, nil
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
