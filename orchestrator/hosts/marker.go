package hosts

import (
	"bytes"
	"errors"
	"io"
)

// longestGreeting bounds how many bytes login shells may print before the answer begins.
const longestGreeting = 1 << 20

// errGreeting reports output without an end in front of the answer.
var errGreeting = errors.New("the login shell over there prints without end")

// behindMarker passes on what is written behind the first line that is the marker, and drops what comes before it: greetings of
// login shells. With a terminal over there the line ends with a carriage return, too.
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
