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
	if err == nil && (!json.Valid(text) || !parse(text).named()) {
		err = &Refusal{Host: p.Name, Code: 1, Said: errNotUnderstood}
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
	if content, err := os.ReadFile(c.keptAnswer(p)); err == nil && json.Unmarshal(content, &last) == nil && last.Version == 1 && parse(last.Status).named() {
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
