package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"paw/config/disk"
	"paw/config/display"
)

// longestAnswer is how many bytes of JSON are read from a host, whose programs agents may have
// written.
const longestAnswer = 16 << 20

// Refusal is the error of a command that ran on the host and failed.
type Refusal struct {
	Host string
	Code int
	Said string

	Hints []string // hints from the JSON error object, if one was printed
}

func (e *Refusal) Error() string { return e.Host + ": " + e.Said }

// Read runs a command that prints JSON, within the host's time limit. A host that does not answer
// on an existing connection is given up after that time: ssh would notice much later.
func (c Client) Read(ctx context.Context, h Host, dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Wait())
	defer cancel()
	socket := c.socket(h)
	stood := socket == "" || standing(socket)
	if err := c.Reach(ctx, h); err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	code, err := c.Run(ctx, h, NewRequest(dir, args...), nil, &bounded{to: &out, left: longestAnswer}, &limited{to: &said, left: longestComplaint})
	switch {
	case errors.Is(err, context.DeadlineExceeded) && !stood:
		return nil, &NotReached{Host: h.Name, Connecting: true} // connecting took the time: the next command gets the full time
	case errors.Is(err, context.DeadlineExceeded):
		c.Drop(h)
		return nil, &NotReached{Host: h.Name, Why: fmt.Sprintf("no answer in %s", h.Wait())}
	case err != nil:
		return nil, err
	case code != 0:
		words, hints := refusalOf(said.String())
		return nil, &Refusal{Host: h.Name, Code: code, Said: words, Hints: hints}
	}
	return out.Bytes(), nil
}

// refusalOf returns the error of the host's paw, without "paw: error:", and its hints.
func refusalOf(said string) (words string, hints []string) {
	var object struct {
		Error string   `json:"error"`
		Hints []string `json:"hints"`
	}
	if json.Unmarshal([]byte(said), &object) == nil && object.Error != "" {
		for _, hint := range object.Hints {
			hints = append(hints, display.OneLine(hint))
		}
		return display.Words(object.Error), hints
	}
	for line := range strings.Lines(said) {
		if words, ok := strings.CutPrefix(line, "paw: error: "); ok {
			return display.Words(words), nil
		}
	}
	return lastLine(said), nil
}

// errLong means that an answer is longer than any answer of paw.
var errLong = errors.New("the answer does not end")

// bounded fails after left bytes.
type bounded struct {
	to    io.Writer
	left  int64
	alive func() // called when bytes arrive; nil for nothing
}

func (b *bounded) Write(text []byte) (int, error) {
	if b.left -= int64(len(text)); b.left < 0 {
		return 0, errLong
	}
	if b.alive != nil {
		b.alive()
	}
	return b.to.Write(text)
}

// Place is a host, and a checkout there, or "" for the whole host.
type Place struct {
	Host
	Dir string
}

// Answer is the last known status of a host.
type Answer struct {
	Host   string
	Err    error     // why the host gave no answer now, nil if it did
	AsOf   time.Time // when the host gave Status, zero if it never did
	Status []byte    // output of paw status --json there, nil if there never was any
}

// Statuses asks all places at the same time. For a host that does not answer it returns the last
// answer and the error.
func (c Client) Statuses(ctx context.Context, places []Place, now func() time.Time) []Answer {
	answers := make([]Answer, len(places))
	var all errgroup.Group
	for i, p := range places {
		all.Go(func() error {
			answers[i] = c.status(ctx, p, now)
			return nil
		})
	}
	_ = all.Wait() // each answer has its own error
	return answers
}

// kept is the content of the file with the last answer of a place.
type kept struct {
	Version int             `json:"version"`
	AsOf    time.Time       `json:"as_of"`
	Status  json.RawMessage `json:"status"`
}

func (c Client) status(ctx context.Context, p Place, now func() time.Time) Answer {
	args := []string{"status", "--here", "--json"}
	if p.Dir == "" {
		args = append(args, "--all")
	}
	text, err := c.Read(ctx, p.Host, p.Dir, args...)
	if err == nil && !json.Valid(text) {
		err = &Refusal{Host: p.Name, Code: 1, Said: "its answer is not understood"}
	}
	file := c.keptAnswer(p)
	if err == nil {
		fresh := kept{Version: 1, AsOf: now().UTC().Truncate(time.Second), Status: text}
		if content, err := json.Marshal(fresh); err == nil {
			_ = disk.ReplaceSoon(file, content) // a failure only means that a later command has no last answer
		}
		return Answer{Host: p.Name, AsOf: fresh.AsOf, Status: text}
	}
	answer := c.Last(p)
	answer.Err = err
	return answer
}

// Last returns the last answer of a place.
func (c Client) Last(p Place) Answer {
	answer := Answer{Host: p.Name}
	var last kept
	if content, err := os.ReadFile(c.keptAnswer(p)); err == nil && json.Unmarshal(content, &last) == nil && last.Version == 1 {
		answer.AsOf, answer.Status = last.AsOf, last.Status
	}
	return answer
}

// keptAnswer returns the file of the last answer of a place.
func (c Client) keptAnswer(p Place) string {
	return filepath.Join(c.State, p.Name+"."+digest(p.SSH+"\x00"+p.Dir)+".json")
}

// Forget deletes all files about a host.
func (c Client) Forget(h Host) error {
	c.Drop(h)
	files, err := filepath.Glob(filepath.Join(c.State, h.Name+".*"))
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// Session is a session on a host, with those fields of docs/json.md that are read; unknown ones are
// ignored, missing ones are empty.
type Session struct {
	Name     text    `json:"name"`
	RepoPath text    `json:"repo_path"`
	Status   text    `json:"status"`
	Reason   text    `json:"reason"`
	Agents   []Agent `json:"agents"`
}

// Agent is an agent on a host.
type Agent struct {
	Name           text   `json:"name"`
	CLI            text   `json:"cli"`
	Branch         text   `json:"branch"`
	HeadBranch     text   `json:"head_branch"`
	WorktreePath   text   `json:"worktree_path"`
	State          text   `json:"state"`
	Since          moment `json:"state_since"`
	Reason         text   `json:"reason"`
	Parent         text   `json:"parent"`
	PID            number `json:"pid"` // process of the CLI, 0 when it does not run
	TurnsCompleted number `json:"turns_completed"`
	CurrentTurn    number `json:"current_turn"`
	ToReview       number `json:"to_review"`
	CutTurn        number `json:"cut_turn"`
}

// knownVersion is the version of paw status --json that this program knows. From higher versions it
// reads only names and states.
const knownVersion = 1

// text is a JSON string that may be null or missing, made safe for a terminal.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil || s == nil {
		return nil //nolint:nilerr // what is no string is not said
	}
	*t = text(display.OneLine(*s))
	return nil
}

// number is a JSON number that may be null, missing or of another type.
type number int

func (n *number) UnmarshalJSON(data []byte) error {
	var i int
	if json.Unmarshal(data, &i) == nil {
		*n = number(i)
	}
	return nil
}

// moment is a time in JSON that may be null, missing or of another form; nil if there is none.
type moment struct{ At *time.Time }

func (m *moment) UnmarshalJSON(data []byte) error {
	var at time.Time
	if json.Unmarshal(data, &at) == nil && !at.IsZero() {
		m.At = &at
	}
	return nil
}

// Sessions parses the answer.
func (a Answer) Sessions() []Session {
	var said struct {
		Version  number    `json:"version"`
		Sessions []Session `json:"sessions"`
	}
	if json.Unmarshal(a.Status, &said) != nil {
		return nil
	}
	if said.Version <= knownVersion {
		return said.Sessions
	}
	for i, s := range said.Sessions {
		for k, g := range s.Agents {
			s.Agents[k] = Agent{Name: g.Name, State: g.State}
		}
		said.Sessions[i] = Session{Name: s.Name, Status: s.Status, Agents: s.Agents}
	}
	return said.Sessions
}

// Objects returns the sessions of an answer as received, with the host's name added to them and to
// their agents.
func (a Answer) Objects() []any {
	var said struct {
		Sessions []map[string]any `json:"sessions"`
	}
	decoder := json.NewDecoder(bytes.NewReader(a.Status))
	decoder.UseNumber()
	if decoder.Decode(&said) != nil {
		return nil
	}
	var objects []any
	for _, s := range said.Sessions {
		s["host"] = a.Host
		agents, _ := s["agents"].([]any)
		for _, agent := range agents {
			if object, ok := agent.(map[string]any); ok {
				object["host"] = a.Host
			}
		}
		objects = append(objects, s)
	}
	return objects
}
