package turn

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// replay builds a Record from the events of a log, in order. Events that the state machine does not
// allow are skipped: if two processes end a turn at the same time, the first line counts.
type replay struct {
	record   Record
	started  bool      // whether START was read
	modified time.Time // mtime of the file, for a log that has lost its START
	offset   int64     // bytes of the file that have been read
}

// view returns the record. A log exists from the start of its turn; one without a whole event, as
// after a full disk or a power loss, is a turn in progress since the file was written, which can
// still be ended.
func (r *replay) view() Record {
	v := r.record.clone()
	if v.State == Initial {
		v.State = InProgress
		v.StartedAt, v.LastEventAt = r.modified, r.modified
	}
	return v
}

// feed reads data, the file's content after r.offset. feed reports whether the event at offset own
// of the file took effect; own is -1 for none.
func (r *replay) feed(data []byte, own int64) bool {
	applied := false
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		size := end + 1
		if end < 0 {
			end = len(data)
		}
		found := pieces(data[:end])
		for _, p := range found {
			if r.apply(p.line) && r.offset+int64(p.at) == own {
				applied = true
			}
		}
		if size == 0 { // No newline: the rest after the last whole event is torn, or is just being written.
			if len(found) > 0 {
				r.offset += int64(found[len(found)-1].end)
			}
			return applied
		}
		data = data[size:]
		r.offset += int64(size)
	}
	return applied
}

// piece is an event with its position in the line.
type piece struct {
	at, end int
	line    line
}

// pieces returns the events of one line: usually one, none for a torn line. After a torn line
// without a newline more events may follow on the same line, when two processes wrote at once and
// the disk was full for the first.
func pieces(data []byte) []piece {
	if l, ok := decodeLine(data); ok {
		return []piece{{0, len(data), l}}
	}
	before, _, _ := bytes.Cut(data, []byte(marker))
	at := len(before)
	var found []piece
	for at < len(data) {
		end := len(data)
		if next := bytes.Index(data[at+1:], []byte(marker)); next >= 0 {
			end = at + 1 + next
		}
		if l, ok := decodeLine(data[at:end]); ok {
			found = append(found, piece{at, end, l})
		}
		at = end
	}
	return found
}

// apply applies one event to the record, and reports whether it was allowed.
func (r *replay) apply(l line) bool {
	if l.Event == eventStart {
		return r.start(l)
	}
	rec := &r.record
	if rec.State == Initial { // START is lost, or not written yet
		rec.State, rec.StartedAt = InProgress, l.At
	}
	if l.Event == eventExecute && l.Description != "" { // the CLI has got it, also where the turn was over
		rec.Joined = append(rec.Joined, string(l.Description))
	}
	to, ok := next(rec.State, l.Event)
	if !ok {
		return false
	}
	rec.State, rec.LastEventAt = to, l.At
	switch l.Event {
	case eventExecute:
		rec.joinedBy(string(l.Conversation), l.At)
		if l.TurnID != "" {
			rec.OlderIDs, rec.TurnID = append(rec.OlderIDs, rec.TurnID), string(l.TurnID)
			if rec.Held != nil && rec.Held.Subagents == 0 { // The CLI has gone on.
				rec.Held = nil
			}
		}
	case eventInput:
		rec.asked(l)
	case eventLimit:
		rec.answered()
		rec.limited(l)
	case eventChildren:
		rec.add(l.Children)
	case eventNote:
		rec.Notes = append(rec.Notes, string(l.Text))
		rec.moved(l)
	case eventHold:
		rec.answered()
		rec.limited(line{})
		rec.Held = &Held{Commit: string(l.CommitHash), Snapshot: string(l.Snapshot), Message: string(l.Message), Subagents: l.Subagents, At: l.At}
	case eventEnd:
		rec.finish(l)
	case eventAbort:
		rec.abort(l)
	}
	return true
}

// start applies the first START, wherever it stands: another process may have written between the
// creation of the file and its first line.
func (r *replay) start(l line) bool {
	if r.started {
		return false
	}
	r.started = true
	rec := &r.record
	if rec.State == Initial {
		rec.State, rec.LastEventAt = InProgress, l.At
	}
	rec.StartedAt = l.At
	rec.Prompt, rec.Launch, rec.Conversation = Prompt(l.Prompt), string(l.Launch), string(l.Conversation)
	rec.TurnID, rec.StartCommit, rec.Follows = string(l.TurnID), string(l.Commit), l.Follows
	return true
}

// moved stores where the CLI works, and what it made beside its worktree.
func (r *Record) moved(l line) {
	if l.Folder != "" {
		r.Folder = strings.TrimPrefix(string(l.Folder), ".")
	}
	if l.Folder != "" || len(l.Strays) > 0 {
		r.Outside = append(r.Outside, string(l.Text))
	}
	for _, stray := range l.Strays {
		r.Strays = append(r.Strays, string(stray))
	}
}

func (r *Record) add(children []text) {
	for _, c := range children {
		if !slices.Contains(r.Children, string(c)) {
			r.Children = append(r.Children, string(c))
		}
	}
}

// limited stores an event's usage limit, or clears it for an event without one.
func (r *Record) limited(l line) {
	r.Limit, r.LimitedSince, r.ErrorMessage = l.Limit, nil, ""
	if r.Limit != nil {
		r.LimitedSince, r.ErrorMessage = &l.At, string(l.Message)
	}
}

func (r *Record) finish(l line) {
	r.answered()
	r.limited(l)
	r.EndedAt = &l.At
	if r.Held != nil && r.Held.Subagents == 0 { // The end was held; only its proof came later.
		r.EndedAt = &r.Held.At
	}
	r.Outcome, r.CommitHash = string(l.Outcome), string(l.CommitHash)
	r.Snapshot, r.Message = string(l.Snapshot), string(l.Message)
}

func (r *Record) abort(l line) {
	r.answered()
	r.EndedAt = &l.At
	r.Reason, r.ErrorType = Reason(l.Reason), string(l.ErrorType)
	r.limited(l)
	r.ErrorMessage, r.ErrorTrace = string(l.Message), string(l.Trace)
}
