package turn

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"paw/config/disk"

	"golang.org/x/sys/unix"
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
