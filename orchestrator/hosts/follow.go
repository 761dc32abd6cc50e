package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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
