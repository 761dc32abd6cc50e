package turn

import (
	"bytes"
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

var errNotRegular = errors.New("not a regular file")

// log writes and reads the file of one turn. Each event is one write at the end of the file, so that processes that
// write at the same time never mix their lines; nothing is ever changed or taken away. log knows the state machine, since
// many processes write a turn's log: append has to read what the others wrote before it can tell whether its event is allowed.
type log struct {
	path string
	replay
}

func newLog(path string, number int, typ Type) *log {
	return &log{path: path, replay: replay{record: Record{Number: number, Type: typ, State: Initial, LogFile: path}}}
}

// create makes the file with its first event. A file that is there, even a dangling symlink, is an *ExistsError.
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
		// The turn did not start: left there, the file would claim that it had.
		return errors.Join(err, os.Remove(l.path))
	}
	return nil
}

// append adds an event if the state of the turn allows it, else it is a *TransitionError. The file must be there.
func (l *log) append(e line) error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := l.read(f, -1); err != nil {
		return err
	}
	if err := l.allowed(e.Event); err != nil {
		return err
	}
	return l.write(f, e)
}

// allowed tells whether the event may come next.
func (l *log) allowed(event string) error {
	from := l.view().State
	if _, ok := next(from, event); !ok {
		return &TransitionError{Number: l.record.Number, From: from, Event: event}
	}
	return nil
}

// write appends the event with one call and reads the file up to it, which tells whether another process ended the
// turn in between: then the event has no effect and that is a *TransitionError.
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
	end, err := f.Seek(0, io.SeekCurrent) // where this write ended, whatever others have added since
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

// read takes in what the file has got since the last time, see replay.feed.
func (l *log) read(f *os.File, own int64) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s: %w", l.path, errNotRegular)
	}
	if info.Size() < l.offset { // no writer of paw's shortens a log; somebody else did
		*l = *newLog(l.path, l.record.Number, l.record.Type)
	}
	l.modified = info.ModTime().UTC()
	data, err := io.ReadAll(io.NewSectionReader(f, l.offset, 1<<62))
	if err != nil {
		return false, err
	}
	return l.feed(data, own), nil
}

// load reads the file from its beginning.
func (l *log) load() error {
	f, err := os.OpenFile(l.path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a fifo in its place must not block
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = l.read(f, -1)
	return err
}

// endsTorn tells whether the last line has no newline.
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

// stamp is the time of an event: UTC, without Go's monotonic reading, so that it equals what is read back.
func stamp(now func() time.Time) time.Time { return now().UTC().Round(0) }

// marker begins every event. It cannot occur inside one: in a JSON string each quote has a backslash before it.
const marker = `{"event":"`

// line is one event of a log; which fields there are depends on the event.
type line struct {
	Event string    `json:"event"` // stays first, see marker
	At    time.Time `json:"at"`

	// START
	Number       int  `json:"number,omitempty"`
	Type         Type `json:"type,omitempty"`
	Launch       text `json:"launch,omitempty"`
	Conversation text `json:"conversation,omitempty"` // also of an EXECUTE or an INPUT, where several work for the turn
	TurnID       text `json:"turn_id,omitempty"`      // also of an EXECUTE that gives the turn another id
	Commit       text `json:"commit,omitempty"`
	Follows      bool `json:"follows,omitempty"`
	Prompt       text `json:"prompt,omitempty"`

	Description text   `json:"description,omitempty"` // EXECUTE
	Question    text   `json:"question,omitempty"`    // INPUT
	Children    []text `json:"children,omitempty"`    // CHILDREN
	Text        text   `json:"text,omitempty"`        // NOTE

	// END and, but for the outcome and the files, HOLD
	Outcome    text `json:"outcome,omitempty"`
	CommitHash text `json:"commit_hash,omitempty"`
	Snapshot   text `json:"snapshot,omitempty"`
	Subagents  int  `json:"subagents,omitempty"` // of a HOLD that waits for them

	// ABORT
	Reason    text `json:"reason,omitempty"`
	ErrorType text `json:"error_type,omitempty"`

	// LIMIT, and an ABORT by one
	Limited bool       `json:"limited,omitempty"`
	Until   *time.Time `json:"until,omitempty"`

	Message text `json:"message,omitempty"` // HOLD, END, ABORT, LIMIT
	Trace   text `json:"trace,omitempty"`   // ABORT
}

// durable tells whether the event must survive a power loss: what a turn was asked and how it ended.
func (l line) durable() bool {
	return l.Event == eventStart || l.Event == eventHold || l.Event == eventEnd || l.Event == eventAbort
}

// encode returns the line with its newline.
func (l line) encode() ([]byte, error) { return encodeJSON(l) }

func decodeLine(data []byte) (line, bool) {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return line{}, false
	}
	return l, l.Event != ""
}

// text is what a user or a program wrote, kept byte for byte. JSON has no form for bytes that are not UTF-8, so such a
// text is written as {"base64":"..."} in the place of the string.
type text string

type base64Text struct {
	Bytes *[]byte `json:"base64"`
}

// MarshalJSON writes a string, or the base64 object.
func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return encodeJSON(string(t))
	}
	b := []byte(t)
	return encodeJSON(base64Text{Bytes: &b})
}

// UnmarshalJSON reads what MarshalJSON writes.
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

// encodeJSON leaves <, > and & as they are: people read logs, and prompts are full of them.
func encodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func texts(list []string) []text {
	out := make([]text, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}
