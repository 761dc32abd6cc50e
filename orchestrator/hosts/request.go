package hosts

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
)

// Request is one command of paw to be run on a host. It crosses as a single word of letters, digits, - and _, which every login
// shell hands on as it is.
type Request struct {
	Version int      `json:"v"`
	Dir     string   `json:"dir,omitempty"` // absolute, or below the home folder; "" is the home folder
	Args    []string `json:"args"`
	Marker  string   `json:"marker,omitempty"` // printed before all other output, on a line of its own
	Login   bool     `json:"login,omitempty"`  // run with the environment of a login shell
	Env     bool     `json:"env,omitempty"`    // the first line of standard input has variables, as JSON
	Held    bool     `json:"held,omitempty"`   // the end of standard input interrupts the command: nobody wants its answer any more
}

// requestVersion is the version of the word that this program writes; a program refuses a higher one.
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

// There returns the path on a host of a path that is a checkout here or below one, by the checkouts that the host has; false where the
// host has none for it. Of several the longest one counts.
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
