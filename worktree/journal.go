package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"paw/config/disk"
	"paw/config/poll"
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

// Unended lists the worktrees in which a move (see Journal) has not ended.
func (r *Registry) Unended(ctx context.Context) ([]gitdir.Checkout, error) {
	entries, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	var places []gitdir.Checkout
	for _, e := range entries {
		if !e.Bare && e.Path != "" && disk.Exists(filepath.Join(e.AdminDir, journal.File)) {
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

// close removes the journal.
func (v *move) close() error { return disk.RemoveFile(filepath.Join(v.at.AdminDir, journal.File)) }

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
