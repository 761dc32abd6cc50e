// Package worktree makes, inspects, saves and removes the git worktrees that agents work in, and
// their branches. The package knows nothing of sessions or tmux.
//
// One invariant: the package deletes no byte that is not in a commit kept by a ref; what is in the
// way is moved to <common dir>/paw/trash.
package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
	"paw/worktree/states"
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

	// Settings returns the settings of the repository, and calls read where it does not know them; nil knows
	// none.
	Settings func(read func() (Settings, error)) (Settings, error)

	// Busy makes the error when a git left behind by a killed paw, or a process left by a hook,
	// holds the registry's lock; nil means a plain error.
	Busy func(path string) error

	// Unsettled makes the error for a worktree with an unfinished move (see Journal); nil means a
	// *MoveError.
	Unsettled func(*journal.MoveError) error

	writer  *git.Answering // set by Writing; nil for a git process for each ref
	objects *objects.Store // set by WithScratch, Remembering and Writing; nil for those of Repository
}

// WithScratch returns a reader, for commands that only read: all objects that a reader makes,
// snapshots included, go to a folder outside of the repository, which drop removes. git refuses to
// set refs to such objects, as in a quarantine.
func (m *Manager) WithScratch() (reader *Manager, drop func(), err error) {
	reading := *m
	reading.objects, drop, err = m.Objects().WithScratch()
	return &reading, drop, err
}

// Remembering returns m with a cache of facts about objects, for one command.
func (m *Manager) Remembering() *Manager {
	remembering := *m
	remembering.objects = m.Objects().Remembering()
	return &remembering
}

// Writing returns m with one git process for all refs that it creates, and one for all commits of paw's
// own, as long as done is not called.
func (m *Manager) Writing() (writing *Manager, done func()) {
	made, commits := *m, &git.Answering{}
	made.writer, made.objects = &git.Answering{}, m.Objects().Through(commits)
	return &made, func() {
		made.writer.Close()
		commits.Close()
	}
}

// Objects returns the object store of the repository.
func (m *Manager) Objects() *objects.Store {
	if m.objects != nil {
		return m.objects
	}
	return objects.New(m.Repository)
}

// Refs returns the refs of the repository.
func (m *Manager) Refs() *refs.Store { return refs.New(m.Objects()).Through(m.writer) }

// Journals returns access to moves (see Journal) that have not ended.
func (m *Manager) Journals() journal.Reader {
	return journal.Reader{Repository: m.Repository, Unsettled: m.Unsettled}
}

// Snapshots returns access to snapshots of worktrees.
func (m *Manager) Snapshots() *snapshot.Taker {
	return snapshot.New(m.Objects(), m.Refs(), m.Journals())
}

// States returns the chains of agents' states.
func (m *Manager) States() *states.Store { return states.New(m.Objects(), m.Refs()) }

// Moves returns access to moves of files, indexes and refs.
func (m *Manager) Moves() *Moves {
	o, journals := m.Objects(), m.Journals()
	r := refs.New(o)
	return &Moves{o.Repository, o, r, journals, snapshot.New(o, r, journals), m.waiting()}
}

// Registry returns access to the registered worktrees.
func (m *Manager) Registry() *Registry {
	return &Registry{m.Repository, m.Locks, m.Objects(), m.Journals(), m.waiting()}
}

// Remotes returns the remotes of the repository.
func (m *Manager) Remotes() *Remotes { return &Remotes{m.Objects(), m.settings} }

// settings returns the settings of the repository, read once for all managers of a command.
func (m *Manager) settings(ctx context.Context) (Settings, error) {
	read := func() (Settings, error) { return ReadSettings(ctx, m.Objects().Home()) }
	if m.Settings == nil {
		return read()
	}
	return m.Settings(read)
}

// Setups returns what makes worktrees usable.
func (m *Manager) Setups() *Setups { return &Setups{m.Repository} }

func (m *Manager) rescues() *rescues       { return &rescues{m.Repository, m.Objects(), m.Refs()} }
func (m *Manager) waiting() gitdir.Waiting { return gitdir.Waiting{Waits: m.Waits, Busy: m.Busy} }

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
func (r *Registry) exclude(ctx context.Context) (exclusive, error) {
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

// Init makes an empty directory a repository with one empty commit, since branches need a commit to
// start from. Init continues an interrupted Init, and leaves nothing after a failure. The caller
// holds the lock of Alone. The error is *NotEmptyError if there is anything in the directory.
func Init(ctx context.Context, dir, message string) error {
	content, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, item := range content {
		if item.Name() != ".git" {
			return &NotEmptyError{Dir: dir}
		}
	}
	repo := git.In(dir)
	if empty, err := Empty(dir); err != nil {
		return err
	} else if !empty {
		if _, err := repo.Line(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); git.ExitCode(err) != 1 {
			return &NotEmptyError{Dir: dir}
		}
	}
	err = repo.Run(ctx, "init", "--quiet")
	if err == nil {
		err = firstCommit(ctx, repo, message)
	}
	if err != nil && len(content) == 0 {
		return errors.Join(err, os.RemoveAll(filepath.Join(dir, ".git")))
	}
	return err
}

// Empty reports whether a directory holds nothing, or only an empty .git folder.
func Empty(dir string) (bool, error) {
	content, err := os.ReadDir(dir)
	if err != nil || len(content) == 0 {
		return err == nil, err
	}
	if len(content) > 1 || content[0].Name() != ".git" || !content[0].IsDir() {
		return false, nil
	}
	content, err = os.ReadDir(filepath.Join(dir, ".git"))
	return err == nil && len(content) == 0, err
}

// firstCommit makes an empty commit, even if git knows no name of the user, or has no key to sign
// with.
func firstCommit(ctx context.Context, repo git.Repo, message string) error {
	commit := []string{"-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty", "--no-verify", "--message", message}
	err := repo.Run(ctx, commit...)
	if git.Said(err, "tell me who you are", "empty ident") {
		return repo.WithEnv(objects.Author...).Run(ctx, commit...)
	}
	return err
}

// Alone locks the directory itself against other paws, of any user. Init and Uninit are called
// under this lock: otherwise one paw could remove what another has begun to use. unlock is never
// nil. An error means that the directory cannot be locked.
func Alone(ctx context.Context, dir string) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return func() {}, err
	}
	if locked, err := gitdir.TryLock(ctx, file, gitdir.LockWait); !locked {
		file.Close()
		return func() {}, fmt.Errorf("%s: %w", dir, cmp.Or(err, ctx.Err(), gitdir.ErrBusy))
	}
	return func() { file.Close() }, nil
}

// Uninit undoes Init for a caller that could not go on, provided that the directory holds nothing
// but the one empty commit; else the error is *NotEmptyError. The caller has held the lock of Alone
// since before Init.
func Uninit(ctx context.Context, dir string) error {
	content, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	commits, err := git.In(dir).Line(ctx, "rev-list", "--all", "--reflog", "--count")
	if err != nil {
		return err
	}
	files, err := git.In(dir).Line(ctx, "ls-tree", "HEAD")
	if err != nil {
		return err
	}
	if len(content) != 1 || content[0].Name() != ".git" || commits != "1" || files != "" || disk.Exists(filepath.Join(dir, ".git", "worktrees")) {
		return &NotEmptyError{Dir: dir}
	}
	return os.RemoveAll(filepath.Join(dir, ".git"))
}
