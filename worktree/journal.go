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

	"paw/config/disk"
	"paw/config/poll"
	"paw/worktree/gitdir"
	"paw/worktree/refs"
)

// Journal describes a move: paw's change of the files, the index and the ref of HEAD in one
// worktree, an agent's or the one that has a branch checked out. The journal is kept in that
// worktree's git directory from before the first change until after the last. If paw is killed
// meanwhile, EndMove completes the move if the ref has moved, else undoes the move.
type Journal struct {
	Command string `json:"command"` // command that moves, such as "paw rewind"
	Session string `json:"session"` // session of the command, "" for none
	Ref     string `json:"ref"`     // ref to move: "HEAD" or the full name of a branch
	Log     string `json:"log"`     // message for the ref's reflog

	From    string `json:"from"` // From and To are commits of the ref
	To      string `json:"to"`
	Was     string `json:"was"` // Was and Becomes are trees or commits of the files
	Becomes string `json:"becomes"`

	Resets   bool           `json:"resets,omitempty"`    // the index gets the entries of To; otherwise staged changes stay staged
	HeadLast bool           `json:"head_last,omitempty"` // the ref moves after files and index
	Rescue   string         `json:"rescue,omitempty"`    // ref of a snapshot from before the move
	Absent   disk.FileNames `json:"absent,omitempty"`    // files of the move that skip-worktree keeps out of the worktree
	Assumed  disk.FileNames `json:"assumed,omitempty"`   // files of the move with the bit assume-unchanged that both sides have
}

// Files of a move (see Journal) in the git directory of its worktree.
const (
	journalFile  = "paw-journal"
	journalIndex = "paw-journal.index" // copy of the index from before the move
	journalLock  = "paw-journal.lock"  // locked by the moving paw and by each git it has started
	journalDone  = "paw-journal.done"  // rescue ref of the last completed move
)

// lockMark is the content of an index.lock made by a move.
const lockMark = "paw moves files here, or was killed while it did: paw recover ends it\n"

// Journals finds moves (see Journal) that have not ended.
type Journals struct {
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

// IndexLockedError says that another git has locked a checkout's index.
type IndexLockedError struct{ Lock string }

func (e *IndexLockedError) Error() string {
	return "the index is locked by another git (" + e.Lock + ")"
}

// readJournal reads the open journal in a git directory, nil for none. For an unreadable journal it
// returns an error: a move is open, but unknown.
func readJournal(admin string) (*Journal, error) {
	content, err := disk.ReadFile(filepath.Join(admin, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var j Journal
	if err := json.Unmarshal(content, &j); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(admin, journalFile), err)
	}
	return &j, nil
}

// moveLeft reports whether a move has left a journal in a git directory, or the index.lock that is
// made before it.
func moveLeft(admin string) bool {
	return disk.Exists(filepath.Join(admin, journalFile)) || gitdir.Line(filepath.Join(admin, "index.lock")) == strings.TrimSpace(lockMark)
}

// placeLock is the lock under which a move (see Journal) changes one worktree.
type placeLock struct {
	gitdir.Checkout
	file *os.File
}

func (l placeLock) release() { l.file.Close() }

// lockPlace waits for the right to move files in a worktree. Git processes started for the move
// inherit the lock.
func (m Moves) lockPlace(ctx context.Context, c gitdir.Checkout) (placeLock, error) {
	path := filepath.Join(c.AdminDir, journalLock)
	file, err := m.waiting.Await(ctx, path, gitdir.RegistryWait)
	return placeLock{c, file}, err
}

// SettledAt waits for a move (see Journal) that is running in a worktree. For an interrupted move
// the error is a *MoveError: the files are neither those from before nor from after.
func (journals Journals) SettledAt(ctx context.Context, c gitdir.Checkout) error {
	if !disk.Exists(filepath.Join(c.AdminDir, journalFile)) {
		return nil
	}
	file, err := gitdir.OpenLock(filepath.Join(c.AdminDir, journalLock))
	if err != nil {
		return err
	}
	defer file.Close()
	ended, err := gitdir.TryLock(ctx, file, gitdir.RegistryWait)
	if err != nil {
		return err
	}
	return journals.unsettled(c, !ended)
}

// Settled returns a *MoveError if a move (see Journal) has not ended in the worktree at path.
func (journals Journals) Settled(ctx context.Context, path string) error {
	admin, err := gitdir.Linked(path, journals.Repository.CommonDir, "")
	if err != nil {
		return nil //nolint:nilerr // whoever needs the worktree says that it is not there
	}
	return journals.SettledAt(ctx, gitdir.Checkout{Path: path, AdminDir: admin})
}

// Unended lists the worktrees in which a move (see Journal) has left something.
func (r Registry) Unended(ctx context.Context) ([]gitdir.Checkout, error) {
	entries, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	var places []gitdir.Checkout
	for _, e := range entries {
		if !e.Bare && e.Path != "" && moveLeft(e.AdminDir) {
			places = append(places, gitdir.Checkout{Path: e.Path, AdminDir: e.AdminDir, Owner: e.LockReason})
		}
	}
	return places, nil
}

// unsettled returns the error for SettledAt, nil if the move has ended meanwhile.
func (journals Journals) unsettled(c gitdir.Checkout, live bool) error {
	j, err := readJournal(c.AdminDir)
	if err == nil && j == nil {
		return nil
	}
	e := &MoveError{Path: c.Path, Command: "move of files", Live: live, Holder: filepath.Join(c.AdminDir, journalLock)}
	if j != nil {
		e.Command, e.Session = j.Command, j.Session
	}
	if journals.Unsettled != nil {
		return journals.Unsettled(e)
	}
	return e
}

// move is an open Journal together with the lock to carry the move out.
type move struct {
	Journal
	m       Moves
	at      placeLock
	also    *os.File // another file that git processes inherit, nil for none
	step    func(name string)
	touched bool // files may have changed
	used    bool // somebody may have used the index since the move was interrupted
}

// begin locks the index of a worktree against every other git, calls refuse, and, if refuse returns
// nil, opens the journal of a move.
func (m Moves) begin(ctx context.Context, at placeLock, j *Journal, refuse func() error) (*move, error) {
	v := &move{m: m, at: at, step: func(string) {}}
	if err := v.lockIndex(ctx); err != nil {
		return nil, err
	}
	err := refuse()
	if err == nil {
		v.Journal = *j
		err = v.open()
	}
	if err != nil {
		v.unlockIndex()
		return nil, err
	}
	return v, nil
}

// unlockStale removes an index.lock left by a move that was killed before its journal was open.
// unlockStale returns a *MoveError if a journal is open.
func (m Moves) unlockStale(at placeLock) error {
	if disk.Exists(filepath.Join(at.AdminDir, journalFile)) {
		return m.journals.unsettled(at.Checkout, false)
	}
	if moveLeft(at.AdminDir) {
		return disk.RemoveFile(filepath.Join(at.AdminDir, "index.lock"))
	}
	return nil
}

// open writes the journal durably, after keeping the index from before. A hard link is enough for
// the index, since git never writes into an index file.
func (v *move) open() error {
	index, kept := filepath.Join(v.at.AdminDir, "index"), filepath.Join(v.at.AdminDir, journalIndex)
	if err := disk.RemoveFile(kept); err != nil {
		return err
	}
	if os.Link(index, kept) != nil {
		if err := disk.CopyFile(index, kept); err != nil {
			return err
		}
	}
	content, err := json.Marshal(v.Journal)
	if err != nil {
		return err
	}
	return disk.Replace(filepath.Join(v.at.AdminDir, journalFile), content)
}

// done closes the journal of a completed move.
func (v *move) done() error {
	if v.Rescue != "" {
		if err := disk.Replace(filepath.Join(v.at.AdminDir, journalDone), []byte(v.Rescue+"\n")); err != nil {
			return err
		}
	}
	return v.close()
}

// TookPlace reports whether the last move of the worktree at path, with this rescue ref, has taken
// place, or will when its open journal is ended.
func (m Moves) TookPlace(ctx context.Context, path, rescue string) (bool, error) {
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return false, err
	}
	j, err := readJournal(admin)
	if err != nil {
		return false, err
	}
	if j != nil && j.Rescue == rescue {
		return m.reached(ctx, m.head(ctx, gitdir.Checkout{Path: path, AdminDir: admin}), j)
	}
	return gitdir.Line(filepath.Join(admin, journalDone)) == rescue, nil
}

// reached reports whether a ref, now at head, has been moved by this move. The ref may have been
// moved on since.
func (m Moves) reached(ctx context.Context, head string, j *Journal) (bool, error) {
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
	if err := disk.RemoveFile(filepath.Join(v.at.AdminDir, journalFile)); err != nil {
		return err
	}
	os.Remove(filepath.Join(v.at.AdminDir, journalIndex))
	v.unlockIndex()
	return nil
}

// lockIndex makes git's index.lock, with lockMark as content from the first moment.
func (v *move) lockIndex(ctx context.Context) error {
	path := filepath.Join(v.at.AdminDir, "index.lock")
	marked := filepath.Join(v.at.AdminDir, journalFile+".mark")
	if err := os.WriteFile(marked, []byte(lockMark), 0o644); err != nil {
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
	if path := filepath.Join(v.at.AdminDir, "index.lock"); gitdir.Line(path) == strings.TrimSpace(lockMark) {
		os.Remove(path)
	}
}
