package turn

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"
)

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
