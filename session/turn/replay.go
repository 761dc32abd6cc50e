package turn

import (
	"bytes"
	"slices"
	"time"
)

// replay builds a record from the events of a log, in their order. An event that the state machine does not allow at
// its place is skipped: of two processes that end a turn at the same time, the one whose line comes first has done it.
type replay struct {
	record   Record
	started  bool      // a START was read
	modified time.Time // of the file, for a log that lost its START
	offset   int64     // how much of the file has been read
}

// view returns the record. A log exists from the start of its turn on, so that one without any whole event, which a
// full disk or a power loss leaves, is a turn in progress since the file was written; somebody can end it.
func (r *replay) view() Record {
	v := r.record.clone()
	if v.State == Initial {
		v.State = InProgress
		v.StartedAt, v.LastEventAt = r.modified, r.modified
	}
	return v
}

// feed reads data, which is what the file has after r.offset. It tells whether the event that begins at offset own of
// the file took effect; own is -1 if there is none to look for.
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
		if size == 0 { // no newline: what follows the last whole event is torn, or somebody is writing it just now
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

// piece is an event and where it stands in its line.
type piece struct {
	at, end int
	line    line
}

// pieces returns the events of one line: one, or none in a torn line, or those that follow a torn one without a
// newline, when two processes wrote at the same time and the first had no room on the disk.
func pieces(data []byte) []piece {
	if l, ok := decodeLine(data); ok {
		return []piece{{0, len(data), l}}
	}
	var found []piece
	for at := bytes.Index(data, []byte(marker)); at >= 0; {
		end := len(data)
		following := bytes.Index(data[at+1:], []byte(marker))
		if following >= 0 {
			end = at + 1 + following
		}
		if l, ok := decodeLine(data[at:end]); ok {
			found = append(found, piece{at, end, l})
		}
		if following < 0 {
			break
		}
		at = end
	}
	return found
}

// apply takes one event into the record and tells whether it was allowed.
func (r *replay) apply(l line) bool {
	if l.Event == eventStart {
		return r.start(l)
	}
	rec := &r.record
	if rec.State == Initial { // its START is lost, or not written yet
		rec.State, rec.StartedAt = InProgress, l.At
	}
	to, ok := next(rec.State, l.Event)
	if !ok {
		return false
	}
	rec.State, rec.LastEventAt = to, l.At
	switch l.Event {
	case eventExecute:
		rec.joinedBy(string(l.Conversation))
		if l.TurnID != "" {
			rec.OlderIDs, rec.TurnID = append(rec.OlderIDs, rec.TurnID), string(l.TurnID)
			if rec.Held != nil && rec.Held.Subagents == 0 { // the CLI has gone on
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

// start takes a START wherever the first one stands: another process may have written between the creation of the file
// and its first line.
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

func (r *Record) add(children []text) {
	for _, c := range children {
		if !slices.Contains(r.Children, string(c)) {
			r.Children = append(r.Children, string(c))
		}
	}
}

// limited takes the limit that an event is about, none of most.
func (r *Record) limited(l line) {
	r.Limit, r.LimitedSince, r.ErrorMessage = l.limit(), nil, ""
	if r.Limit != nil {
		r.LimitedSince, r.ErrorMessage = &l.At, string(l.Message)
	}
}

func (r *Record) finish(l line) {
	r.answered()
	r.limited(l)
	r.EndedAt = &l.At
	if r.Held != nil && r.Held.Subagents == 0 { // only the proof of it came later
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
