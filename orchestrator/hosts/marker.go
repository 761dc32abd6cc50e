package hosts

import (
	"bytes"
	"errors"
	"io"
)

// longestGreeting is how many bytes a login shell may print before the answer.
const longestGreeting = 1 << 20

// errGreeting means that a login shell printed too much before the answer.
var errGreeting = errors.New("the login shell over there prints without end")

// behindMarker passes on what is written after the first line with the marker, and drops the
// greetings of login shells before it. With a terminal on the host that line also ends with a
// carriage return.
type behindMarker struct {
	marker string
	to     io.Writer
	before []byte
	found  bool
	failed error
}

func (b *behindMarker) Write(text []byte) (int, error) {
	if b.found {
		if n, err := b.to.Write(text); err != nil {
			b.failed = err
			return n, err
		}
		return len(text), nil
	}
	b.before = append(b.before, text...)
	at, end := bytes.Index(b.before, []byte(b.marker)), -1
	if at >= 0 {
		end = bytes.IndexByte(b.before[at:], '\n')
	}
	if end < 0 {
		if len(b.before) > longestGreeting {
			b.failed = errGreeting
			return 0, errGreeting
		}
		return len(text), nil
	}
	rest := b.before[at+end+1:]
	b.found, b.before = true, nil
	if len(rest) > 0 {
		if _, err := b.to.Write(rest); err != nil {
			b.failed = err
			return 0, err
		}
	}
	return len(text), nil
}
