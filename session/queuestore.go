package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"paw/config/disk"
)

// QueueStore keeps the queue of each session in a folder of its own below Dir: queue.json while a
// task is open or a race goes on, ended.json afterwards, and a file for each prompt. Changes take a lock in LocksDir;
// reading does not.
type QueueStore struct {
	Dir      string
	LocksDir string
}

// File names of a queue. A queue with no open task has another name, so that the end of a turn need
// not read it.
const (
	queueOpen  = "queue.json"
	queueEnded = "ended.json"
)

// Open reports whether a session's queue has open tasks or races, by one lstat(2).
func (st QueueStore) Open(name string) bool {
	_, err := os.Lstat(filepath.Join(st.Dir, name, queueOpen))
	return err == nil
}

// Load returns the queue of a session, nil if it never had one. The error is a *CorruptError or a
// *VersionError for a queue that cannot be used.
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
		data, err := disk.ReadRegular(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		switch {
		case errors.Is(err, disk.ErrNotRegular):
			return nil, path, notAFile(name, path)
		case err != nil:
			return nil, path, fmt.Errorf("queue of %s: %w", name, err)
		}
		q, err := decodeQueue(name, path, data)
		return q, path, err
	}
	return nil, "", nil
}

// Update reads the queue of a session, or makes an empty one, calls change, saves the result and
// returns it. With an error of change, which is returned unchanged, nothing is saved.
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
	for i := range q.Tasks {
		t := &q.Tasks[i]
		if !t.State.Over() {
			t.Over = time.Time{}
		} else if t.Over.IsZero() {
			t.Over = time.Now().UTC()
		}
	}
	return q, st.save(q, was, q.follow() || q.Open())
}

// save writes the queue to queue.json if it is open or to ended.json; was is the file that it was read from. If
// killed in between, both may exist, and queue.json counts.
func (st QueueStore) save(q *Queue, was string, open bool) error {
	data, err := encodeQueue(q)
	if err != nil {
		return err
	}
	dir := filepath.Join(st.Dir, q.Session)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file := queueEnded
	if open {
		file = queueOpen
	}
	path := filepath.Join(dir, file)
	if was != "" && was != path && file == queueEnded {
		if err := disk.Replace(was, data); err != nil { // Without this, queue.json would count with old content after a crash.
			return err
		}
		if err := os.Rename(was, path); err != nil {
			return err
		}
		return disk.SyncDir(dir)
	}
	return disk.Replace(path, data)
}

func (st QueueStore) textPath(name, id string, text TaskText) string {
	file := id
	if text == TextBack {
		file += ".back"
	}
	return filepath.Join(st.Dir, name, file+".md")
}

// KeepText writes a text of a task, before the task is added to the queue.
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

// HighestText returns the highest number of a task t1, t2 and so on whose prompt is there, 0 for none: also of a queue that was
// set aside since it could not be read.
func (st QueueStore) HighestText(name string) (highest int) {
	entries, _ := os.ReadDir(filepath.Join(st.Dir, name))
	for _, entry := range entries {
		digits, _ := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".md"), "t")
		if number, err := strconv.Atoi(digits); err == nil {
			highest = max(highest, number)
		}
	}
	return highest
}

// Text reads the next text of a task. A file that has lost text, as in a power failure, is an error.
func (st QueueStore) Text(name string, t Task) (string, error) {
	path := st.textPath(name, t.ID, t.Text)
	data, err := disk.ReadRegular(path)
	text := string(data)
	switch {
	case err != nil:
	case strings.TrimSpace(text) == "":
		err = fmt.Errorf("%s: is empty", path)
	case t.Text == TextPrompt && t.Sum != "" && t.Sum != SumOf(text):
		err = fmt.Errorf("%s: is not the prompt that was queued", path)
	default:
		return text, nil
	}
	return "", fmt.Errorf("task %s of %s: %w", t.ID, name, err)
}

// SumOf returns a checksum of a prompt.
func SumOf(prompt string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(prompt))) }

// DropTexts deletes the texts of tasks that the queue does not have any more.
func (st QueueStore) DropTexts(name string, ids []string) (err error) {
	if err := ValidateName("session", name); err != nil {
		return err
	}
	for _, id := range ids {
		for _, which := range []TaskText{TextPrompt, TextBack} {
			if failed := os.Remove(st.textPath(name, id, which)); !errors.Is(failed, os.ErrNotExist) {
				err = errors.Join(err, failed)
			}
		}
	}
	return err
}

// Folder returns the folder of a session's queue and prompts.
func (st QueueStore) Folder(name string) string { return filepath.Join(st.Dir, name) }

// ChecksPID returns the process that runs the checks of a session's queue, 0 for none.
func (l Locks) ChecksPID(session string) int {
	file := queueChecksLock(session)
	if !l.held(file) {
		return 0
	}
	return recordedPID(filepath.Join(l.Dir, file))
}

func queueChecksLock(session string) string { return "queue-checks-" + session + ".lock" }

// Tasks waits for the lock under which a session's queue changes. The lock is held for one save.
func (l Locks) Tasks(ctx context.Context, session string) (unlock func(), err error) {
	return l.ofSession(ctx, "queue of ", "tasks", session)
}

// Pump takes the lock of the process that moves a session's queue on, without waiting; nil if
// another process has it.
func (l Locks) Pump(session string) (unlock func()) { return l.once("queue-" + session + ".lock") }

// QueueChecks takes the lock of the process that runs the checks of a session's queue, without
// waiting; nil if another process has it.
func (l Locks) QueueChecks(session string) (unlock func()) {
	return l.once(queueChecksLock(session))
}

// Pick takes the lock of the process that picks in a race of a session, without waiting; nil if
// another process has it.
func (l Locks) Pick(session string) (unlock func()) { return l.once("pick-" + session + ".lock") }

func (l Locks) once(file string) (unlock func()) {
	f, err := l.try(file)
	if err != nil {
		return nil
	}
	return holdShort(f)
}
