package hosts

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Request is a command of paw to run on a host. It is sent as a single word of letters, digits, -
// and _, which every login shell passes on unchanged.
type Request struct {
	Version int      `json:"v"`
	Dir     string   `json:"dir,omitempty"` // directory, absolute or relative to the home folder; "" for the home folder
	Args    []string `json:"args"`
	Marker  string   `json:"marker,omitempty"` // line printed before all other output
	Login   bool     `json:"login,omitempty"`  // run in the environment of a login shell
	Env     bool     `json:"env,omitempty"`    // the first line of standard input contains variables in JSON
	Held    bool     `json:"held,omitempty"`   // the end of standard input interrupts the command: its caller is gone
}

// requestVersion is the version of requests that this program writes; higher ones are refused.
const requestVersion = 1

// NewRequest returns a request with a marker of its own.
func NewRequest(dir string, args ...string) Request {
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails
	return Request{Version: requestVersion, Dir: dir, Args: args, Marker: "paw-" + hex.EncodeToString(random[:])}
}

// Word encodes a request.
func (r Request) Word() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic("hosts: strings and booleans cannot fail to encode: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// ParseRequest decodes a word.
func ParseRequest(word string) (Request, error) {
	var r Request
	text, err := base64.RawURLEncoding.DecodeString(word)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("not a request: %w", err)
	case r.Version > requestVersion:
		return r, fmt.Errorf("a request of version %d; this paw knows %d", r.Version, requestVersion)
	case r.Version < 1 || len(r.Args) == 0:
		return r, errors.New("not a request: no version or no command")
	}
	return r, nil
}

// There translates a path in a checkout on this machine to the host, by the map of checkouts repos;
// false where no checkout contains the path. The longest matching one is used.
func There(repos map[string]string, here string) (string, bool) {
	best := ""
	for checkout := range repos {
		if (here == checkout || strings.HasPrefix(here, strings.TrimSuffix(checkout, "/")+"/")) && len(checkout) > len(best) {
			best = checkout
		}
	}
	if best == "" {
		return "", false
	}
	return path.Clean(repos[best]), true
}

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
