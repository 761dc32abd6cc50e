package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/journal"
	"paw/worktree/objects"
)

// Ended says how an interrupted move was ended.
type Ended struct {
	journal.Journal
	Moved bool   // the move has taken place; otherwise everything is as before
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
		return said + "it is finished"
	}
	return said + "all is as before it"
}

// WhatToSee returns Note, followed by Hint.
func (e *Ended) WhatToSee() string {
	if e.Hint == "" {
		return e.Note
	}
	return e.Note + "; " + e.Hint
}

// EndMoveIn is EndMove for the linked worktree at path.
func (m Moves) EndMoveIn(ctx context.Context, path string) (*Ended, error) {
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return nil, err
	}
	return m.EndMove(ctx, gitdir.Checkout{Path: path, AdminDir: admin})
}

// EndMove ends an interrupted move (see Journal) in a worktree; the result is nil if there is none.
// The ref decides whether the move has taken place, and files and index are made to agree with
// that. A file that is neither as before nor as after, nor a partly written one, was written by
// somebody else: the file is kept, and git status shows it. If HEAD of the worktree has moved
// elsewhere since, everything is left as it is. EndMove may be repeated.
func (m Moves) EndMove(ctx context.Context, c gitdir.Checkout) (*Ended, error) {
	if !journal.Left(c.AdminDir) {
		return nil, nil
	}
	at, err := m.lockPlace(ctx, c)
	if err != nil {
		return nil, err
	}
	defer at.release()
	j, err := journal.Read(c.AdminDir)
	if j == nil {
		return nil, errors.Join(err, m.unlockStale(at))
	}
	left, _ := filepath.Glob(filepath.Join(c.AdminDir, moveScratch+"*"))
	for _, dir := range left {
		os.RemoveAll(dir)
	}
	v := &move{Journal: *j, m: m, at: at, step: func(string) {}}
	head := m.head(ctx, c)
	ended := &Ended{Journal: *j, Moved: head == j.To}
	switch {
	case head != j.To && head != j.From:
		if err := v.leave(ctx, ended, head); err != nil {
			return nil, err
		}
	default:
		if err := v.settleSince(ctx, ended); err != nil {
			return nil, err
		}
	}
	if took, err := m.reached(ctx, head, j); err != nil {
		return nil, err
	} else if took {
		return ended, v.done()
	}
	return ended, v.close()
}

// settleSince settles an interrupted move whose worktree may have been used since, as a missing
// index.lock shows.
func (v *move) settleSince(ctx context.Context, ended *Ended) error {
	if gitdir.Line(filepath.Join(v.at.AdminDir, "index.lock")) != strings.TrimSpace(journal.LockMark) {
		if err := v.lockIndex(ctx); err != nil {
			return err
		}
		v.used = true
	}
	err := v.settle(context.WithoutCancel(ctx), ended.Moved)
	if errors.Is(err, errUsedSince) {
		return v.leave(ctx, ended, v.m.head(ctx, v.at.Checkout))
	}
	if err != nil && v.used {
		v.unlockIndex()
	}
	return err
}

const namedInHint = 20

// leave notes that a worktree is left unchanged, and which of its files have the content from
// before the move although HEAD has the content from after.
func (v *move) leave(ctx context.Context, ended *Ended, head string) error {
	ended.Note = v.at.Path + " was changed since, and is left as it is"
	if v.Rescue != "" {
		ended.Note += "; what was there before is kept in " + v.Rescue
	}
	if head == "" {
		return nil
	}
	was, becomes := v.Was, v.Becomes
	if !v.Resets {
		was, becomes = v.From, v.To
	}
	changes, err := objects.Between(ctx, v.m.objects.Home(), was, becomes)
	if err != nil {
		return err
	}
	have, err := stagedEntries(ctx, v.repo())
	if err != nil {
		return err
	}
	has, err := objects.Between(ctx, v.m.objects.Home(), was, head)
	if err != nil {
		return err
	}
	var old []string
	folder := "" // path that is a file on one side and a folder on the other: its name stands for the files in the folder
	for _, c := range changes {
		moved := slices.ContainsFunc(has, func(other objects.Change) bool { return other.Name == c.Name && other.Entry() == c.Entry() })
		if moved && have[c.Name] == c.OldEntry() && (folder == "" || !disk.Inside(c.Name, folder, "/")) {
			old, folder = append(old, git.Quote(c.Name)), c.Name
		}
	}
	if n := len(old); n > 0 && n <= namedInHint {
		ended.Note += "; a commit there would undo a part of " + v.Command
		ended.Hint = "git -C " + git.Quote(v.at.Path) + " restore --staged --worktree -- " + strings.Join(old, " ")
	} else if n > 0 {
		ended.Hint = "git -C " + git.Quote(v.at.Path) + " status"
	}
	return nil
}
