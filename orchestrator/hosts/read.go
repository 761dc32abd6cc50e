package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"paw/config/disk"
	"paw/config/display"
)

// longestAnswer bounds how many bytes of JSON are read from a host: its programs are written by agents.
const longestAnswer = 16 << 20

// Refusal is how a command over there ended that did not do what was asked for.
type Refusal struct {
	Host string
	Code int
	Said string

	Hints []string // where it printed an object
}

func (e *Refusal) Error() string { return e.Host + ": " + e.Said }

// Read runs a command that prints JSON, and waits for it as long as the host's patience says in all. A host that freezes behind a
// standing connection is given up at the same moment: ssh itself would notice it much later.
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
		return nil, &NotReached{Host: h.Name, Connecting: true} // connecting took the time; the next command has all of its own
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

// refusalOf is what the paw over there says is wrong, without its own "paw: error:", and what it says can be done.
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

// errLong reports an answer that is longer than any that paw gives.
var errLong = errors.New("the answer does not end")

// bounded writes a bounded number of bytes, and fails at the next one.
type bounded struct {
	to   *bytes.Buffer
	left int
}

func (b *bounded) Write(text []byte) (int, error) {
	if b.left -= len(text); b.left < 0 {
		return 0, errLong
	}
	return b.to.Write(text)
}

// Place is a host with the checkout there that is asked about; "" is all of the host.
type Place struct {
	Host
	Dir string
}

// Answer is the status that a host gave, now or the last time.
type Answer struct {
	Host   string
	Err    error     // why the host gave none now, nil where it did
	AsOf   time.Time // when it gave this one, zero where it never did
	Status []byte    // what paw status --json printed there, nil where it never did
}

// Statuses asks all places at once. A host that does not answer has its last answer, and the reason.
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

// kept is the file that has the last answer of a place.
type kept struct {
	Version int             `json:"version"`
	AsOf    time.Time       `json:"as_of"`
	Status  json.RawMessage `json:"status"`
}

func (c Client) status(ctx context.Context, p Place, now func() time.Time) Answer {
	args := []string{"status", "--json"}
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
			_ = disk.ReplaceSoon(file, content) // without it a later command knows less, no more
		}
		return Answer{Host: p.Name, AsOf: fresh.AsOf, Status: text}
	}
	answer := c.Last(p)
	answer.Err = err
	return answer
}

// Last is the last answer about a place.
func (c Client) Last(p Place) Answer {
	answer := Answer{Host: p.Name}
	var last kept
	if content, err := os.ReadFile(c.keptAnswer(p)); err == nil && json.Unmarshal(content, &last) == nil && last.Version == 1 {
		answer.AsOf, answer.Status = last.AsOf, last.Status
	}
	return answer
}

// keptAnswer is the file of the last answer about a place.
func (c Client) keptAnswer(p Place) string {
	return filepath.Join(c.State, p.Name+"."+digest(p.SSH+"\x00"+p.Dir)+".json")
}

// Forget deletes what is kept of a host.
func (c Client) Forget(h Host) error {
	c.Drop(h)
	files, err := filepath.Glob(filepath.Join(c.State, h.Name+".*"))
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}
