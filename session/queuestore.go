package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"paw/config/disk"
)

// QueueStore keeps the queue of a session in a folder of its own in Dir: queue.json as long as a task is open, ended.json
// with the same content once none is, and the prompts. Every change happens under a lock in LocksDir; reading takes none.
type QueueStore struct {
	Dir      string
	LocksDir string
}

// The names of the file of a queue: one that nothing waits in costs the end of a turn nothing.
const (
	queueOpen  = "queue.json"
	queueEnded = "ended.json"
)

// Open reports whether the queue of a session has open tasks, by one look at a file.
func (st QueueStore) Open(name string) bool {
	_, err := os.Lstat(filepath.Join(st.Dir, name, queueOpen))
	return err == nil
}

// Load returns the queue of a session, nil when it never had one. The error is a *CorruptError or a *VersionError when there
// is one that cannot be used.
func (st QueueStore) Load(name string) (*Queue, error) {
	q, _, err := st.load(name)
	return q, err
}

// load is Load that also returns the path of the file.
func (st QueueStore) load(name string) (*Queue, string, error) {
	if err := ValidateName("session", name); err != nil {
		return nil, "", err
	}
	for _, file := range []string{queueOpen, queueEnded} {
		path := filepath.Join(st.Dir, name, file)
		data, err := readRegular(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, path, fmt.Errorf("queue of %s: %w", name, err)
		}
		q, err := decodeQueue(name, path, data)
		return q, path, err
	}
	return nil, "", nil
}

// Update reads the queue of a session, an empty one where there is none, lets change alter it and saves it, and returns what
// it saved. An error of change is returned as it is, and nothing is saved then.
func (st QueueStore) Update(ctx context.Context, name string, change func(*Queue) error) (*Queue, error) {
	if err := ValidateName("session", name); err != nil {
		return nil, err
	}
	unlock, err := Locks{Dir: st.LocksDir}.Tasks(ctx, name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	q, was, err := st.load(name)
	if err != nil {
		return nil, err
	}
	if q == nil {
		q = &Queue{Session: name}
		q.fill()
	}
	if err := change(q); err != nil {
		return nil, err
	}
	return q, st.save(q, was)
}

// save writes the queue to the file that it belongs into. Killed in between it leaves both: then the open one counts.
func (st QueueStore) save(q *Queue, was string) error {
	data, err := encodeQueue(q)
	if err != nil {
		return err
	}
	dir := filepath.Join(st.Dir, q.Session)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file := queueEnded
	if q.Open() {
		file = queueOpen
	}
	path := filepath.Join(dir, file)
	if was != "" && was != path && file == queueEnded {
		if err := disk.Replace(was, data); err != nil { // or the open one would count with what is not so any more
			return err
		}
		if err := os.Rename(was, path); err != nil {
			return err
		}
		return disk.SyncDir(dir)
	}
	return disk.Replace(path, data)
}

// textPath keeps a text of a task.
func (st QueueStore) textPath(name, id string, text TaskText) string {
	file := id
	if text == TextBack {
		file += ".back"
	}
	return filepath.Join(st.Dir, name, file+".md")
}

// KeepText writes a text of a task; it is there before the task is.
func (st QueueStore) KeepText(name, id string, which TaskText, text string) error {
	if err := errors.Join(ValidateName("session", name), ValidateTaskID(id)); err != nil {
		return err
	}
	path := st.textPath(name, id, which)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return disk.Replace(path, []byte(text))
}

// Text reads a text of a task.
func (st QueueStore) Text(name, id string, which TaskText) (string, error) {
	data, err := readRegular(st.textPath(name, id, which))
	if err != nil {
		return "", fmt.Errorf("task %s of %s: %w", id, name, err)
	}
	return string(data), nil
}

// Folder is where the queue of a session and its prompts are.
func (st QueueStore) Folder(name string) string { return filepath.Join(st.Dir, name) }

// Tasks waits for the lock under which the queue of a session changes. It is held for one save.
func (l Locks) Tasks(ctx context.Context, session string) (unlock func(), err error) {
	if err := ValidateName("session", session); err != nil {
		return nil, err
	}
	return l.wait(ctx, "queue of "+session, "tasks-"+session+".lock")
}

// Pump takes the lock of whoever moves the queue of a session on, without waiting; nil where another process has it.
func (l Locks) Pump(session string) (unlock func()) { return l.once("queue-" + session + ".lock") }

// QueueChecks takes the lock of whoever runs the checks of the queue of a session, without waiting; nil where another process
// has it.
func (l Locks) QueueChecks(session string) (unlock func()) {
	return l.once("queue-checks-" + session + ".lock")
}

func (l Locks) once(file string) (unlock func()) {
	f, err := l.try(file)
	if err != nil {
		return nil
	}
	return holdShort(f)
}
