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
	"paw/worktree/snapshot"
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
func (m *Moves) EndMoveIn(ctx context.Context, path string) (*Ended, error) {
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
func (m *Moves) EndMove(ctx context.Context, c gitdir.Checkout) (*Ended, error) {
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
	have, err := entriesOf(ctx, v.repo(), filepath.Join(v.at.AdminDir, "index"))
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

// settle brings the paths of a move, in files and index, to one side: forward to what the paths
// become, else back to what they were. If the index is neither as before nor as after the move,
// settle does nothing.
func (v *move) settle(ctx context.Context, forward bool) error {
	s := &settling{move: v, forward: forward, goal: v.Was, other: v.Becomes}
	if forward {
		s.goal, s.other = v.Becomes, v.Was
	}
	var err error
	if s.changes, err = objects.Between(ctx, v.m.objects.Home(), s.other, s.goal); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp(v.at.AdminDir, moveScratch); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(s.dir) }()
	if err := s.lookAtIndex(ctx); err != nil {
		return err
	}
	if forward && s.installed && !v.Resets { // The index comes last, so the files are there.
		return nil
	}
	if err := s.makeIndex(ctx); err != nil {
		return err
	}
	write, remove, err := s.rewritten(ctx)
	if err != nil {
		return err
	}
	if err := s.put(ctx, write, remove); err != nil {
		return err
	}
	if s.index == "" && len(write)+len(remove) == 0 {
		return nil
	}
	return s.putIndex(ctx)
}

type settling struct {
	*move
	forward     bool
	dir         string
	goal, other string // trees or commits of the files
	changes     []objects.Change

	installed bool            // the index is as after the move
	index     string          // scratch file that becomes the index, "" to keep the present one
	away      map[string]bool // files of the goal that skip-worktree keeps out of the worktree
}

func (s *settling) put(ctx context.Context, write, remove []string) error {
	for _, name := range remove {
		if err := disk.RemoveFile(filepath.Join(s.at.Path, name)); err != nil {
			return err
		}
		s.dropFolders(name)
	}
	if len(write) == 0 {
		return nil
	}
	_, repo, err := indexWith(ctx, s.repo(), filepath.Join(s.at.AdminDir, "index"), s.dir, s.changes, objects.Change.Entry)
	if err != nil {
		return err
	}
	return git.Unasked(func(options []string) error {
		_, err := repo.Input(ctx, git.NulTerminated(write), git.Quietly(append(options, "checkout-index", "-f", "-z", "--stdin")...)...)
		return err
	})
}

// dropFolders removes the folders above a file that are empty now.
func (s *settling) dropFolders(name string) {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if os.Remove(filepath.Join(s.at.Path, dir)) != nil {
			return
		}
	}
}

// rewritten returns the paths whose files the move has written, partly written, or not yet written:
// write lists paths that the goal has, remove the others. Files written by somebody else are in
// neither list.
func (s *settling) rewritten(ctx context.Context) (write, remove []string, err error) {
	if len(s.changes) == 0 {
		return nil, nil, nil
	}
	real := filepath.Join(s.at.AdminDir, "index")
	asGoal, err := filesAs(ctx, s.repo(), real, s.dir, s.at.Path, s.changes, objects.Change.Entry)
	if err != nil {
		return nil, nil, err
	}
	asOther, err := filesAs(ctx, s.repo(), real, s.dir, s.at.Path, s.changes, objects.Change.OldEntry)
	if err != nil {
		return nil, nil, err
	}
	gone := map[string]bool{}
	for _, goes := range []bool{true, false} { // files to remove make room for those to write
		for _, c := range s.changes {
			away := s.away[c.Name]
			if (c.Gone || away) != goes || asGoal[c.Name] && !away || away && !disk.IsFile(filepath.Join(s.at.Path, c.Name)) {
				continue
			}
			asOther[c.Name] = asOther[c.Name] || away && asGoal[c.Name]
			mine, err := s.mine(ctx, c, asOther, gone)
			switch {
			case err != nil:
				return nil, nil, err
			case mine && goes:
				remove, gone[c.Name] = append(remove, c.Name), true
			case mine:
				write = append(write, c.Name)
			}
		}
	}
	return write, remove, nil
}

// filesAs reports at which of the changed paths below top the file is the one that entry returns, as
// git compares files: with the user's conversions. index and dir are those of indexWith.
func filesAs(ctx context.Context, repo git.Repo, index, dir, top string, changes []objects.Change, entry func(objects.Change) string) (map[string]bool, error) {
	file, repo, err := indexWith(ctx, repo, index, dir, changes, entry)
	if err != nil {
		return nil, err
	}
	defer snapshot.DropIndex(file)
	differs, err := changedFiles(ctx, repo)
	same := map[string]bool{}
	for _, c := range changes {
		same[c.Name] = !differs[c.Name]
		if entry(c) == "" {
			info, err := os.Lstat(filepath.Join(top, c.Name))
			same[c.Name] = err != nil || info.IsDir()
		}
	}
	return same, err
}

// changedFiles returns the paths whose files differ from repo's index, as git compares files.
func changedFiles(ctx context.Context, repo git.Repo) (map[string]bool, error) {
	if err := snapshot.Refresh(ctx, repo); err != nil {
		return nil, err
	}
	var out string
	err := git.Unasked(func(options []string) (err error) {
		out, err = repo.Output(ctx, git.Quietly(append(options, "diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all")...)...)
		return err
	})
	differs := map[string]bool{}
	for _, name := range git.NulSeparated(out) {
		differs[name] = true
	}
	return differs, err
}

// mine reports whether a path holds nothing of somebody else's, once the files in gone are removed:
// no file, the other side's file, or the beginning of one side's file, from a git that was
// interrupted while writing.
func (s *settling) mine(ctx context.Context, c objects.Change, asOther, gone map[string]bool) (bool, error) {
	at, err := obstacleAt(s.at.Path, c.Name, gone)
	if at == "" || err != nil {
		return err == nil, err
	}
	path := filepath.Join(s.at.Path, c.Name)
	info, err := os.Lstat(path)
	switch {
	case at != c.Name || err != nil:
		return false, nil //nolint:nilerr // something else is there
	case asOther[c.Name]:
		return true, nil
	case !info.Mode().IsRegular():
		return false, nil
	}
	have, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	for _, side := range []struct{ tree, mode string }{{s.goal, c.Mode}, {s.other, c.OldMode}} {
		if !strings.HasPrefix(side.mode, "100") {
			continue
		}
		var whole string
		if err := git.Unasked(func(options []string) (err error) {
			whole, err = git.In(s.at.Path).Output(ctx, append(options, "cat-file", "--filters", side.tree+":"+c.Name)...)
			return err
		}); err != nil {
			return false, err
		}
		if strings.HasPrefix(whole, string(have)) {
			return true, nil
		}
	}
	return false, nil
}
