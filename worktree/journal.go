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
)

// Journal says what paw moves at one place, an agent's worktree or the checkout of a branch: the files, the index, and the ref
// that HEAD is. It lies in the git directory of the place from before the first of them moves until all have moved. What is
// open after its paw was killed is ended by EndMove, forward where the ref has moved, else back.
type Journal struct {
	Command string `json:"command"` // that moves, such as "paw rewind"
	Session string `json:"session"` // that the command was for, "" for none
	Ref     string `json:"ref"`     // that moves: "HEAD" or the full name of a branch
	Log     string `json:"log"`     // entry of its reflog

	From    string `json:"from"` // commits of the ref
	To      string `json:"to"`
	Was     string `json:"was"` // trees or commits of the files
	Becomes string `json:"becomes"`

	Resets   bool      `json:"resets,omitempty"`    // the index becomes that of To; otherwise what is staged stays staged
	HeadLast bool      `json:"head_last,omitempty"` // the ref moves after files and index
	Rescue   string    `json:"rescue,omitempty"`    // ref with everything that was there
	Absent   fileNames `json:"absent,omitempty"`    // files that skip-worktree keeps away, of those that move
	Assumed  fileNames `json:"assumed,omitempty"`   // files that are assumed to be unchanged, of those that move and stay
}

// Files of a journal in the git directory of a place.
const (
	journalFile  = "paw-journal"
	journalIndex = "paw-journal.index" // the index as it was
	journalLock  = "paw-journal.lock"  // locked by the paw that moves, and by each git that it has started
	journalDone  = "paw-journal.done"  // the rescue of the last move that took place
)

// lockMark is the content of an index.lock that a move has made.
const lockMark = "paw moves files here, or was killed while it did: paw recover ends it\n"

// Journals says which moves of files have not ended.
type Journals struct {
	Repository Repository

	// Unsettled words the refusal of a place where a move has not ended; nil for plain words.
	Unsettled func(*MoveError) error
}

// MoveError means that a move of files at a place has not ended.
type MoveError struct {
	Path    string // of the place
	Command string // that moves
	Session string // whose recover ends it, "" for none
	Live    bool   // it goes on
	Holder  string // file that is locked as long as it goes on
}

func (e *MoveError) Error() string {
	if e.Live {
		return fmt.Sprintf("%s: %s is at work there", e.Path, e.Command)
	}
	return fmt.Sprintf("%s: a %s was cut short there", e.Path, e.Command)
}

// IndexLockedError means that another git has the index of a checkout.
type IndexLockedError struct{ Lock string }

func (e *IndexLockedError) Error() string {
	return "the index is locked by another git (" + e.Lock + ")"
}

// readJournal reads the open journal of the place with this git directory, nil when none is open. One that cannot be read is
// open, and says nothing.
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

// moveLeft reports whether a move has left something at the place with this git directory: a journal, or the lock of the index
// that comes before it.
func moveLeft(admin string) bool {
	return exists(filepath.Join(admin, journalFile)) || readLine(filepath.Join(admin, "index.lock")) == strings.TrimSpace(lockMark)
}

// placeLock is the right to move what is at one place.
type placeLock struct {
	Checkout
	file *os.File
}

func (l placeLock) release() { l.file.Close() }

// lockPlace waits for the right to move what is at a place. Each git that is started for it inherits the right.
func (m Moves) lockPlace(ctx context.Context, c Checkout) (placeLock, error) {
	path := filepath.Join(c.AdminDir, journalLock)
	file, err := m.waiting.await(ctx, path, registryWait)
	return placeLock{c, file}, err
}

// SettledAt waits for a move that goes on at a place, and fails with *MoveError where one was cut short: what is there is
// neither as before nor as after.
func (journals Journals) SettledAt(ctx context.Context, c Checkout) error {
	if !exists(filepath.Join(c.AdminDir, journalFile)) {
		return nil
	}
	file, err := openLock(filepath.Join(c.AdminDir, journalLock))
	if err != nil {
		return err
	}
	defer file.Close()
	ended, err := tryLock(ctx, file, registryWait)
	if err != nil {
		return err
	}
	return journals.unsettled(c, !ended)
}

// Settled fails with *MoveError where a move of paw has not ended in the worktree at path.
func (journals Journals) Settled(ctx context.Context, path string) error {
	admin, err := verified(path, journals.Repository.CommonDir, "")
	if err != nil {
		return nil //nolint:nilerr // whoever needs the worktree says that it is not there
	}
	return journals.SettledAt(ctx, Checkout{Path: path, AdminDir: admin})
}

// Unended lists the places of a repository where a move of paw has left something.
func (r Registry) Unended(ctx context.Context) ([]Checkout, error) {
	entries, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	var places []Checkout
	for _, e := range entries {
		if !e.Bare && e.Path != "" && moveLeft(e.AdminDir) {
			places = append(places, Checkout{Path: e.Path, AdminDir: e.AdminDir, Owner: e.LockReason})
		}
	}
	return places, nil
}

// unsettled is the error of SettledAt, nil when the move has ended meanwhile.
func (journals Journals) unsettled(c Checkout, live bool) error {
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

// move is a journal that is open, with the right to carry it out.
type move struct {
	Journal
	m       Moves
	at      placeLock
	also    *os.File // that its gits inherit as well, nil for none
	step    func(name string)
	touched bool // files may have moved
	used    bool // somebody may have used the index since it was cut short
}

// begin locks the index of a place for everybody else and, when nothing refuses after that, opens the journal of a move.
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

// unlockStale removes the lock of an index that a move has left which was killed before its journal was open. It fails with
// *MoveError where the journal is open.
func (m Moves) unlockStale(at placeLock) error {
	if exists(filepath.Join(at.AdminDir, journalFile)) {
		return m.journals.unsettled(at.Checkout, false)
	}
	if moveLeft(at.AdminDir) {
		return removeFile(filepath.Join(at.AdminDir, "index.lock"))
	}
	return nil
}

// open writes the journal, which a loss of power does not take back: first the index as it was, which another link to its file
// keeps, since git never writes into one.
func (v *move) open() error {
	index, kept := filepath.Join(v.at.AdminDir, "index"), filepath.Join(v.at.AdminDir, journalIndex)
	if err := removeFile(kept); err != nil {
		return err
	}
	if os.Link(index, kept) != nil {
		if err := copyFile(index, kept); err != nil {
			return err
		}
	}
	content, err := json.Marshal(v.Journal)
	if err != nil {
		return err
	}
	return disk.Replace(filepath.Join(v.at.AdminDir, journalFile), content)
}

// done ends the journal of a move that took place.
func (v *move) done() error {
	if v.Rescue != "" {
		if err := disk.Replace(filepath.Join(v.at.AdminDir, journalDone), []byte(v.Rescue+"\n")); err != nil {
			return err
		}
	}
	return v.close()
}

// TookPlace reports whether the move of the worktree at path that has this rescue took place, or will when its journal is ended. It answers
// for the last move of a worktree.
func (m Moves) TookPlace(ctx context.Context, path, rescue string) (bool, error) {
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil {
		return false, err
	}
	j, err := readJournal(admin)
	if err != nil {
		return false, err
	}
	if j != nil && j.Rescue == rescue {
		return m.reached(ctx, m.head(ctx, Checkout{Path: path, AdminDir: admin}), j)
	}
	return readLine(filepath.Join(admin, journalDone)) == rescue, nil
}

// reached reports whether a ref that is at head now had come to where a move leads. Somebody may have moved the ref on since.
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
	return m.objects.Contains(ctx, j.To, j.From) // both are behind head: it comes from the later one
}

// close ends the journal, and gives the index back.
func (v *move) close() error {
	if err := removeFile(filepath.Join(v.at.AdminDir, journalFile)); err != nil {
		return err
	}
	os.Remove(filepath.Join(v.at.AdminDir, journalIndex))
	v.unlockIndex()
	return nil
}

// lockIndex takes git's own lock of the index, with all that is in it at once.
func (v *move) lockIndex(ctx context.Context) error {
	path := filepath.Join(v.at.AdminDir, "index.lock")
	marked := filepath.Join(v.at.AdminDir, journalFile+".mark")
	if err := os.WriteFile(marked, []byte(lockMark), 0o644); err != nil {
		return err
	}
	defer os.Remove(marked)
	var err error
	taken := func() bool {
		if err = os.Link(marked, path); err != nil && !errors.Is(err, fs.ErrExist) { // no links on this disk
			err = copyFile(marked, path)
		}
		return !errors.Is(err, fs.ErrExist)
	}
	switch {
	case poll.Until(ctx, poll.Tick, refLockPatience, taken):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &IndexLockedError{path}
}

// unlockIndex gives git's lock of the index back, unless it is somebody else's by now.
func (v *move) unlockIndex() {
	if path := filepath.Join(v.at.AdminDir, "index.lock"); readLine(path) == strings.TrimSpace(lockMark) {
		os.Remove(path)
	}
}
