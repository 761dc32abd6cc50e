// Package journal reads what a move of files, index and HEAD has written down about itself, so that
// nobody takes a half-moved worktree for what somebody has written.
package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/config/disk"
	"paw/worktree/gitdir"
)

// Journal describes a move: paw's change of the files, the index and the ref of HEAD in one
// worktree, an agent's or the one that has a branch checked out. The journal is kept in that
// worktree's git directory from before the first change until after the last. If paw is killed
// meanwhile, EndMove does a rewind of an agent again, and puts back a landing whose branch has not
// moved.
type Journal struct {
	Command string `json:"command"` // command that moves, such as "paw rewind"
	Session string `json:"session"` // session of the command, "" for none
	Ref     string `json:"ref"`     // ref to move: "HEAD" or the full name of a branch
	Log     string `json:"log"`     // message for the ref's reflog

	From    string `json:"from"` // From and To are commits of the ref
	To      string `json:"to"`
	Was     string `json:"was"` // Was and Becomes are trees or commits of the files
	Becomes string `json:"becomes"`

	Branch string `json:"branch,omitempty"` // branch that HEAD of a rewind was on, "HEAD" for none
	Rescue string `json:"rescue,omitempty"` // ref of a snapshot from before the move
	Back   bool   `json:"back,omitempty"`   // the move has failed, and To and Becomes are what was before it

	Refs []gitdir.RefChange `json:"refs,omitempty"` // changes of other refs, made as Ref moves

	// Skipped are the paths of a landing that a sparse checkout leaves out.
	Skipped disk.FileNames `json:"skipped,omitempty"`
}

// TurnBack makes the state before the move the goal.
func (j *Journal) TurnBack() {
	j.From, j.To, j.Was, j.Becomes, j.Back = j.To, j.From, j.Becomes, j.Was, true
	back := make([]gitdir.RefChange, len(j.Refs))
	for i, c := range j.Refs {
		back[i] = gitdir.RefChange{Ref: c.Ref, To: c.From, From: c.To}
	}
	j.Refs = back
}

// Files of a move (see Journal) in the git directory of its worktree.
const (
	File     = "paw-journal"
	LockFile = "paw-journal.lock" // locked by the moving paw and by each git it has started
)

// Reader finds moves (see Journal) that have not ended.
type Reader struct {
	Repository gitdir.Repository

	// Unsettled makes the error for a worktree with an unfinished move; nil returns the *MoveError.
	Unsettled func(*MoveError) error
}

// MoveError says that a move (see Journal) has not ended in a worktree.
type MoveError struct {
	Path    string // path of the worktree
	Command string // command that moves
	Session string // session whose recover ends the move, "" for none
	Live    bool   // the move is still running
	Holder  string // file that is locked while the move runs
}

func (e *MoveError) Error() string {
	if e.Live {
		return fmt.Sprintf("%s: %s is at work there", e.Path, e.Command)
	}
	return fmt.Sprintf("%s: a %s was cut short there", e.Path, e.Command)
}

// Read reads the open journal in a git directory, nil for none. For an unreadable journal it
// returns an error: a move is open, but unknown.
func Read(admin string) (*Journal, error) {
	content, err := disk.ReadFile(filepath.Join(admin, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var j Journal
	if err := json.Unmarshal(content, &j); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(admin, File), err)
	}
	return &j, nil
}

// SettledAt waits for a move (see Journal) that is running in a worktree. For an interrupted move
// the error is a *MoveError: the files are neither those from before nor from after.
func (journals Reader) SettledAt(ctx context.Context, c gitdir.Checkout) error {
	if !disk.Exists(filepath.Join(c.AdminDir, File)) {
		return nil
	}
	file, err := gitdir.OpenLock(filepath.Join(c.AdminDir, LockFile))
	if err != nil {
		return err
	}
	defer file.Close()
	ended, err := gitdir.TryLock(ctx, file, gitdir.RegistryWait)
	if err != nil {
		return err
	}
	return journals.UnsettledAt(c, !ended)
}

// Settled returns a *MoveError if a move (see Journal) has not ended in the worktree at path.
func (journals Reader) Settled(ctx context.Context, path string) error {
	admin, err := gitdir.Linked(path, journals.Repository.CommonDir, "")
	if err != nil {
		return nil //nolint:nilerr // whoever needs the worktree says that it is not there
	}
	return journals.SettledAt(ctx, gitdir.Checkout{Path: path, AdminDir: admin})
}

// UnsettledAt returns the error for SettledAt, nil if the move has ended meanwhile.
func (journals Reader) UnsettledAt(c gitdir.Checkout, live bool) error {
	j, err := Read(c.AdminDir)
	if err == nil && j == nil {
		return nil
	}
	e := &MoveError{Path: c.Path, Command: "move of files", Live: live, Holder: filepath.Join(c.AdminDir, LockFile)}
	if j != nil {
		e.Command, e.Session = j.Command, j.Session
	}
	if journals.Unsettled != nil {
		return journals.Unsettled(e)
	}
	return e
}

// CutShort returns the command of a move that is open in a git directory and not running, "" for
// none.
func CutShort(admin string) string {
	if !disk.Exists(filepath.Join(admin, File)) {
		return ""
	}
	file, err := os.Open(filepath.Join(admin, LockFile))
	if err == nil {
		defer file.Close()
		if free, err := gitdir.TryLock(context.Background(), file, 0); err == nil && !free {
			return ""
		}
	}
	open, _ := errors.AsType[*MoveError](Reader{}.UnsettledAt(gitdir.Checkout{AdminDir: admin}, false))
	if open == nil { // it has ended meanwhile
		return ""
	}
	return strings.TrimSpace(open.Command)
}
