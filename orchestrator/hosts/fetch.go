package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

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
	answer := &metered{to: out, left: mostFetched, alive: func() { quiet.Reset(silence) }}
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

// metered writes at most left bytes, and calls alive when some arrive.
type metered struct {
	to    io.Writer
	left  int64
	alive func()
}

func (m *metered) Write(text []byte) (int, error) {
	if m.left -= int64(len(text)); m.left < 0 {
		return 0, errLong
	}
	m.alive()
	return m.to.Write(text)
}

// Ask is like Read, with wait in place of the host's usual time limit.
func (c Client) Ask(ctx context.Context, h Host, wait time.Duration, dir string, args ...string) ([]byte, error) {
	h.Patience = int(wait / time.Second)
	return c.Read(ctx, h, dir, args...)
}
