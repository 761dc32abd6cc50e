package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// followSilence is how long, beyond its time limit, a followed host may send nothing: it sends its
// status every second.
const followSilence = 5 * time.Second

// connectPatience bounds how long it may take to reach a host that is to be followed.
const connectPatience = 20 * time.Second

// Follow runs paw status --watch --json on a host, and calls told for each status that differs from
// the one before. It returns why it ended.
func (c Client) Follow(ctx context.Context, p Place, now func() time.Time, told func(Answer)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	reach, done := context.WithTimeout(ctx, connectPatience)
	err := c.Reach(reach, p.Host)
	done()
	if err != nil {
		return err
	}
	args := []string{"status", "--here", "--watch", "--json"}
	if p.Dir == "" {
		args = append(args, "--all")
	}
	quiet := time.AfterFunc(connectPatience, func() { cancel(&NotReached{Host: p.Name, Why: "no answer"}) })
	defer quiet.Stop()
	var last []byte
	lines := &lineReader{line: func(line []byte) {
		quiet.Reset(p.Wait() + followSilence)
		if !bytes.Equal(line, last) && json.Valid(line) {
			last = bytes.Clone(line)
			told(Answer{Host: p.Name, AsOf: now().UTC().Truncate(time.Second), Status: last})
		}
	}}
	code, err := c.Run(ctx, p.Host, NewRequest(p.Dir, args...), nil, lines, io.Discard)
	switch {
	case ctx.Err() != nil && context.Cause(ctx) != nil:
		if err = context.Cause(ctx); !errors.Is(err, context.Canceled) {
			c.Drop(p.Host)
		}
		return err
	case err != nil:
		return err
	}
	return &Refusal{Host: p.Name, Code: code, Said: "its paw ended"}
}

// lineReader calls line with each line written to it; the length of a line is bounded.
type lineReader struct {
	line func([]byte)
	rest []byte
}

func (l *lineReader) Write(text []byte) (int, error) {
	l.rest = append(l.rest, text...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			break
		}
		l.line(line)
		l.rest = rest
	}
	if len(l.rest) > longestAnswer {
		return 0, errLong
	}
	return len(text), nil
}

// mostFetched bounds how many bytes one fetch takes from a host.
const mostFetched = 4 << 30

// silence is how long a fetch waits for the next byte: git on the host reports every five seconds
// that it is at work.
const silence = 30 * time.Second

// Fetch connects git on this machine to git in a checkout on a host, in place of ssh. protocol is
// the value of GIT_PROTOCOL.
func (c Client) Fetch(ctx context.Context, h Host, dir, protocol string, in io.Reader, out, said io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(&NotReached{Host: h.Name, Why: fmt.Sprintf("nothing came for %s", silence)}) })
	defer quiet.Stop()
	answer := &bounded{to: out, left: mostFetched, alive: func() { quiet.Reset(silence) }}
	var lost *NotReached
	code, err := c.Run(ctx, h, NewRequest(dir, "__upload", protocol), in, answer, &limited{to: said, left: longestComplaint})
	switch {
	case answer.left < 0:
		return fmt.Errorf("%s: sends more than %d GiB, which is not taken", h.Name, mostFetched>>30)
	case errors.Is(err, context.Canceled) && context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.As(err, &lost) && lost.Answered:
		return fmt.Errorf("%s: the connection was lost, not all has come", h.Name)
	case err != nil:
		return err
	case code != 0:
		return fmt.Errorf("%s: git there ended with %d", h.Name, code)
	}
	return nil
}

// Ask is like Read, with wait in place of the host's usual time limit.
func (c Client) Ask(ctx context.Context, h Host, wait time.Duration, dir string, args ...string) ([]byte, error) {
	h.Patience = int(wait / time.Second)
	return c.Read(ctx, h, dir, args...)
}

// Wait runs paw wait --json on a host with further arguments, and returns when it has ended or ctx
// is done. The error is a *NotReached where the host was lost, and a *Refusal where there was no
// agent to wait for.
func (c Client) Wait(ctx context.Context, h Host, dir string, words ...string) (Said, error) {
	request := NewRequest(dir, append([]string{"wait", "--json"}, words...)...)
	request.Held = true
	held, holding, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer held.Close()
	defer holding.Close()
	var out, said bytes.Buffer
	code, err := c.Run(ctx, h, request, held, &bounded{to: &out, left: longestAnswer}, &limited{to: &said, left: longestComplaint})
	if err != nil {
		return nil, err
	}
	waited := parse(out.Bytes())
	switch {
	case !waited.named():
		return nil, &Refusal{Host: h.Name, Code: max(code, 1), Said: errNotUnderstood}
	case waited.Text("session") == "":
		words, hints := refusalOf(said.String())
		return nil, &Refusal{Host: h.Name, Code: max(code, 1), Said: words, Hints: hints}
	}
	return waited, nil
}
