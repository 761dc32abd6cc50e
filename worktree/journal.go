package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/config/disk"
	"paw/config/poll"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/journal"
	"paw/worktree/refs"
)

// IndexLockedError says that another git has locked a checkout's index.
type IndexLockedError struct{ Lock string }

func (e *IndexLockedError) Error() string {
	if info, err := os.Lstat(e.Lock); err == nil {
		return fmt.Sprintf("the index is locked by another git (%s, %s old)", e.Lock, time.Since(info.ModTime()).Round(time.Second))
	}
	return "the index is locked by another git (" + e.Lock + ")"
}

// placeLock is the lock under which a move (see Journal) changes one worktree.
type placeLock struct {
	gitdir.Checkout
	file *os.File
}

func (l placeLock) release() { l.file.Close() }

// lockPlace waits for the right to move files in a worktree. Git processes started for the move
// inherit the lock.
func (m *Moves) lockPlace(ctx context.Context, c gitdir.Checkout) (placeLock, error) {
	path := filepath.Join(c.AdminDir, journal.LockFile)
	file, err := m.waiting.Await(ctx, path, gitdir.RegistryWait)
	return placeLock{c, file}, err
}

// Unended lists the worktrees in which a move (see Journal) has left something.
func (r *Registry) Unended(ctx context.Context) ([]gitdir.Checkout, error) {
	entries, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	var places []gitdir.Checkout
	for _, e := range entries {
		if !e.Bare && e.Path != "" && journal.Left(e.AdminDir) {
			places = append(places, gitdir.Checkout{Path: e.Path, AdminDir: e.AdminDir, Owner: e.LockReason})
		}
	}
	return places, nil
}

// move is an open Journal together with the lock to carry the move out.
type move struct {
	journal.Journal
	m    *Moves
	at   placeLock
	also *os.File // another file that git processes inherit, nil for none
	step func(name string)
}

// begin locks the index of a worktree against every other git, calls refuse, and, if refuse returns
// nil, opens the journal of a move.
func (m *Moves) begin(ctx context.Context, at placeLock, j *journal.Journal, refuse func() error) (*move, error) {
	v := &move{m: m, at: at, step: func(string) {}}
	if err := v.lockIndex(ctx); err != nil {
		return nil, err
	}
	err := refuse()
	if err == nil {
		v.Journal = *j
		err = v.write()
	}
	if err != nil {
		v.unlockIndex()
		return nil, err
	}
	return v, nil
}

// unlockStale removes an index.lock left by a move that was killed before its journal was open.
// unlockStale returns a *MoveError if a journal is open.
func (m *Moves) unlockStale(at placeLock) error {
	if disk.Exists(filepath.Join(at.AdminDir, journal.File)) {
		return m.journals.UnsettledAt(at.Checkout, false)
	}
	if journal.Left(at.AdminDir) {
		return disk.RemoveFile(filepath.Join(at.AdminDir, "index.lock"))
	}
	return nil
}

// write makes or replaces the journal, durably.
func (v *move) write() error {
	content, err := json.Marshal(v.Journal)
	if err != nil {
		return err
	}
	return disk.Replace(filepath.Join(v.at.AdminDir, journal.File), content)
}

// reached reports whether a ref, now at head, has been moved by this move. The ref may have been
// moved on since.
func (m *Moves) reached(ctx context.Context, head string, j *journal.Journal) (bool, error) {
	switch head {
	case j.To:
		return true, nil
	case j.From, "":
		return false, nil
	}
	to, err := m.objects.Contains(ctx, head, j.To)
	if err != nil || !to {
		return false, err
	}
	from, err := m.objects.Contains(ctx, head, j.From)
	if err != nil || !from {
		return err == nil, err
	}
	return m.objects.Contains(ctx, j.To, j.From) // head has both commits: the later one decides
}

// close removes the journal, and unlocks the index.
func (v *move) close() error {
	if err := disk.RemoveFile(filepath.Join(v.at.AdminDir, journal.File)); err != nil {
		return err
	}
	v.unlockIndex()
	return nil
}

// LockedByPaw reports whether a lock file is one with which paw locks an index until a move of files has ended.
func LockedByPaw(lock string) bool {
	return gitdir.Line(lock) == strings.TrimSpace(journal.LockMark)
}

// lockIndex makes git's index.lock, with lockMark as content from the first moment.
func (v *move) lockIndex(ctx context.Context) error {
	path := filepath.Join(v.at.AdminDir, "index.lock")
	marked := filepath.Join(v.at.AdminDir, journal.File+".mark")
	if err := os.WriteFile(marked, []byte(journal.LockMark), 0o644); err != nil {
		return err
	}
	defer os.Remove(marked)
	var err error
	taken := func() bool {
		if err = os.Link(marked, path); err != nil && !errors.Is(err, fs.ErrExist) { // The file system has no hard links.
			err = disk.CopyFile(marked, path)
		}
		return !errors.Is(err, fs.ErrExist)
	}
	switch {
	case poll.Until(ctx, poll.Tick, refs.LockPatience, taken):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &IndexLockedError{path}
}

// unlockIndex removes index.lock, unless it is another program's by now.
func (v *move) unlockIndex() {
	if path := filepath.Join(v.at.AdminDir, "index.lock"); LockedByPaw(path) {
		os.Remove(path)
	}
}

func (l placeLock) indexLock() string { return filepath.Join(l.AdminDir, "index.lock") }

// awaitIndex waits until no other git has locked the index.
func (l placeLock) awaitIndex(ctx context.Context) error {
	switch free := func() bool { return !disk.Exists(l.indexLock()) }; {
	case poll.Until(ctx, poll.Tick, refs.LockPatience, free):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &IndexLockedError{l.indexLock()}
}

// lockBeat is how often paw notes that a git of it may have the index locked, and lockDelay the time by
// which the clock of a file system may be behind.
const (
	lockBeat  = 200 * time.Millisecond
	lockDelay = 20 * time.Millisecond
)

// useIndex notes, until done is called, that gits of paw lock the index: dropStaleLock can then tell the
// lock that a killed one leaves. done gets the error of the last git, and removes its lock if it was killed.
func (l placeLock) useIndex() (done func(error)) {
	note := filepath.Join(l.AdminDir, journal.GitsFile)
	_ = os.WriteFile(note, []byte(time.Now().Add(-lockDelay).Format(time.RFC3339Nano)), 0o666)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case now := <-time.After(lockBeat):
				_ = os.Chtimes(note, now, now)
			}
		}
	}()
	return func(err error) {
		close(stop)
		<-stopped
		if failed, ok := errors.AsType[*git.Error](err); ok && failed.ExitCode < 0 {
			_ = l.dropStaleLock()
		}
		os.Remove(note)
	}
}

// dropStaleLock removes an index.lock that a killed git of paw has left: one made while the note of
// useIndex was kept up. No git of paw runs here, since it would hold the placeLock.
func (l placeLock) dropStaleLock() error {
	note := filepath.Join(l.AdminDir, journal.GitsFile)
	began, err := time.Parse(time.RFC3339Nano, gitdir.Line(note))
	if err != nil {
		return nil // no git of paw was cut
	}
	defer os.Remove(note)
	last, err := os.Lstat(note)
	if err != nil {
		return err
	}
	made, err := os.Lstat(l.indexLock())
	if err != nil || made.ModTime().Before(began) || made.ModTime().After(last.ModTime().Add(2*lockBeat)) {
		return nil // there is none, or it is another git's
	}
	return disk.RemoveFile(l.indexLock())
}

// Ended says how an interrupted move was ended.
type Ended struct {
	journal.Journal
	Moved bool   // the move has taken place; otherwise everything is as before
	Kept  string // ref of what was there meanwhile, "" for nothing
	Note  string // what the user has to look at, "" for nothing
	Hint  string // command that helps, "" for none
}

// String returns one line about how the move was ended.
func (e *Ended) String() string {
	said := "a " + e.Command + " was cut short: "
	switch {
	case e.Note != "":
		return said + e.WhatToSee()
	case e.Moved:
		said += "it is finished"
	default:
		said += "all is as before it"
	}
	if e.Kept != "" {
		said += "; what was there meanwhile is kept in " + e.Kept
	}
	return said
}

// WhatToSee returns Note, followed by Hint.
func (e *Ended) WhatToSee() string {
	if e.Hint == "" {
		return e.Note
	}
	return e.Note + "; " + e.Hint
}
