package turn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"paw/config/disk"
)

// log reads and writes the file of one turn. Each event is one write at the end of the file, so
// that the lines of several writers never mix; nothing is ever changed or removed. Since many
// processes write a turn's log, append must first read their events to know whether its own is
// allowed.
type log struct {
	path string
	replay
}

func newLog(path string, number int, typ Type) *log {
	return &log{path: path, replay: replay{record: Record{Number: number, Type: typ, State: Initial, LogFile: path}}}
}

// create makes the file with its first event. If the file exists, even as a dangling symlink, the
// error is an *ExistsError.
func (l *log) create(first line) error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return &ExistsError{Number: l.record.Number, Path: l.path}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	err = l.write(f, first)
	if err == nil {
		err = disk.SyncDir(filepath.Dir(l.path))
	}
	if err != nil {
		// The turn did not start; the file would claim that it did.
		return errors.Join(err, os.Remove(l.path))
	}
	return nil
}

// append adds an event, or returns a *TransitionError if the turn's state does not allow it. The
// file must exist.
func (l *log) append(e line) error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := l.read(f, -1); err != nil {
		return err
	}
	from := l.view().State
	if _, allowed := next(from, e.Event); !allowed {
		return &TransitionError{Number: l.record.Number, From: from, Event: e.Event}
	}
	return l.write(f, e)
}

// write appends an event with one call, and then reads the file up to it: if another process has
// ended the turn in between, the event has no effect, and the error is a *TransitionError.
func (l *log) write(f *os.File, e line) error {
	data, err := e.encode()
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	size := len(data)
	torn, err := endsTorn(f)
	if err != nil {
		return err
	}
	if torn {
		data = append([]byte{'\n'}, data...)
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	end, err := f.Seek(0, io.SeekCurrent) // the end of this write, whatever others have added since
	if err != nil {
		return err
	}
	var unsynced error
	if e.durable() {
		unsynced = disk.Sync(f)
	}
	applied, err := l.read(f, end-int64(size))
	if err != nil || unsynced != nil {
		return errors.Join(unsynced, err)
	}
	if !applied {
		return &TransitionError{Number: l.record.Number, From: l.view().State, Event: e.Event}
	}
	return nil
}

// read reads what was added to the file since the last call. own is the offset of an event; the
// result says whether it took effect. See replay.feed.
func (l *log) read(f *os.File, own int64) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s: %w", l.path, disk.ErrNotRegular)
	}
	if info.Size() < l.offset { // paw never shortens a log; another program did
		*l = *newLog(l.path, l.record.Number, l.record.Type)
	}
	l.modified = info.ModTime().UTC()
	data, err := io.ReadAll(io.NewSectionReader(f, l.offset, 1<<62))
	if err != nil {
		return false, err
	}
	return l.feed(data, own), nil
}

// load reads the file from its start.
func (l *log) load() error {
	f, err := disk.Open(l.path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = l.read(f, -1)
	return err
}

// endsTorn reports whether the last line has no newline.
func endsTorn(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// stamp returns the time for an event: in UTC, and without the monotonic reading, so that it equals
// the time read back.
func stamp(now func() time.Time) time.Time { return now().UTC().Round(0) }

// marker is the start of every event. The text cannot occur inside an event, where each quote has a
// backslash before it.
const marker = `{"event":"`

// line is one event of a log; the event decides which fields are set.
type line struct {
	Event string    `json:"event"` // must stay first, see marker
	At    time.Time `json:"at"`

	// START
	Number       int  `json:"number,omitempty"`
	Type         Type `json:"type,omitempty"`
	Launch       text `json:"launch,omitempty"`
	Conversation text `json:"conversation,omitempty"` // also of EXECUTE and INPUT, if several conversations work for the turn
	TurnID       text `json:"turn_id,omitempty"`      // also of an EXECUTE that changes the turn's id
	Commit       text `json:"commit,omitempty"`
	Follows      bool `json:"follows,omitempty"`
	Prompt       text `json:"prompt,omitempty"`

	Description text   `json:"description,omitempty"` // what an EXECUTE asks for
	Question    text   `json:"question,omitempty"`    // what an INPUT asks the user
	Children    []text `json:"children,omitempty"`    // agents that a CHILDREN adds
	Text        text   `json:"text,omitempty"`        // text of a NOTE
	Folder      text   `json:"folder,omitempty"`      // of a NOTE: where the CLI works from now on, "." for its worktree
	Strays      []text `json:"strays,omitempty"`      // of a NOTE: see Record.Strays

	// END; HOLD, without outcome
	Outcome    text `json:"outcome,omitempty"`
	CommitHash text `json:"commit_hash,omitempty"`
	Snapshot   text `json:"snapshot,omitempty"`
	Subagents  int  `json:"subagents,omitempty"` // number of subagents that a HOLD waits for

	// ABORT
	Reason    text `json:"reason,omitempty"`
	ErrorType text `json:"error_type,omitempty"`

	Limit *Limit `json:"limit,omitempty"` // of a LIMIT, and of an ABORT by a limit

	Message text `json:"message,omitempty"` // message of a HOLD, END, ABORT or LIMIT
	Trace   text `json:"trace,omitempty"`   // ABORT
}

// durable reports whether an event must survive a power loss: the prompt and the end of a turn.
func (l line) durable() bool {
	return l.Event == eventStart || l.Event == eventHold || l.Event == eventEnd || l.Event == eventAbort
}

// encode returns the line with its newline.
func (l line) encode() ([]byte, error) { return disk.JSON(l, "") }

func decodeLine(data []byte) (line, bool) {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return line{}, false
	}
	return l, l.Event != ""
}

// text is a text of a user or a program, kept byte for byte. JSON cannot hold bytes that are not
// UTF-8: such a text is written as {"base64":"..."} instead of a string.
type text string

type base64Text struct {
	Bytes *[]byte `json:"base64"`
}

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return disk.JSON(string(t), "")
	}
	b := []byte(t)
	return disk.JSON(base64Text{Bytes: &b}, "")
}

func (t *text) UnmarshalJSON(data []byte) error {
	var plain string
	if err := json.Unmarshal(data, &plain); err == nil {
		*t = text(plain)
		return nil
	}
	var b base64Text
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	if b.Bytes != nil {
		*t = text(*b.Bytes)
	}
	return nil
}

func texts(list []string) []text {
	out := make([]text, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}
