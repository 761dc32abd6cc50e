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
	"slices"
	"strings"

	"paw/config/lazyregexp"
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
	Host    string   `json:"host,omitempty"`   // name of the host in the caller's configuration, for commands that a person pastes there
	SSH     string   `json:"ssh,omitempty"`    // destination of the host for the caller's ssh
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

// textBehind are the commands whose words behind the first one are text, and no names.
var textBehind = []string{"send", "answer", "sh", "run", "spawn", "review", "bisect", "blame"}

// Here makes a command line that a host's paw prints one that works when it is pasted here: its
// agents and sessions are named by HOST:, and what is no command for another machine is run there.
func (h Host) Here(line string) string {
	there := "ssh -t " + h.SSH + " " + quoted(line)
	if !plain(line) {
		return there
	}
	commands := strings.Split(line, " && ")
	for i, command := range commands {
		words := strings.Split(command, " ")
		if words[0] != "paw" || len(words) < 2 || slices.Contains([]string{"config", "doctor", "clis", "queue"}, words[1]) {
			return there
		}
		if commands[i] = strings.Join(h.here(words), " "); commands[i] == command {
			return there // it names nobody, and would be about this machine
		}
	}
	return strings.Join(commands, " && ")
}

// plainLine is a command line that does the same in each shell: words that errs.Quote leaves as they
// are, or that are quoted and in which the shell replaces nothing.
var plainLine = lazyregexp.New(`^(([a-zA-Z0-9/._:@%,=+-]|'[^'\p{C}]*'|\\'|"[^"$\x60\\!\p{C}]*")+( |$)|&& )+$`)

// plain reports whether a line from a host is safe to paste here: its programs may have been changed
// by agents.
func plain(line string) bool { return plainLine().MatchString(line) }

// HereFrom is Here for a line that belongs in a folder of the host, dir, quoted for a shell.
func (h Host) HereFrom(dir, line string) string {
	here := h.Here(line)
	if !strings.HasPrefix(here, "ssh ") || strings.HasPrefix(line, "git -C ") || strings.HasPrefix(line, "rm ") {
		return here
	}
	return h.Here("cd " + dir + " && " + line)
}

// here names the agents in the words of one command.
func (h Host) here(words []string) []string {
	if words[1] == "start" || words[1] == "add" {
		return append(words, "--on", h.Name)
	}
	if at := slices.Index(words, "--session") + 1; at > 0 && at < len(words) {
		words[at] = h.Name + ":" + words[at]
		return words
	}
	for i, word := range words[2:] {
		switch {
		case word == "--" || strings.ContainsAny(word, "'\""): // text and paths
			return words
		case word == "" || word[0] == '-' || word[0] >= '0' && word[0] <= '9': // flags and turns
			continue
		}
		words[i+2] = h.Name + ":" + word
		if slices.Contains(textBehind, words[1]) {
			break
		}
	}
	return words
}

// hereLines writes what a host's paw prints, with its command lines made to work here.
type hereLines struct {
	to   io.Writer
	host Host
	held string // the beginning of a line with a command
	mid  bool   // the line that is not written to its end has no command
}

// Said returns a writer for what a host's paw prints for a person to read.
func (h Host) Said(to io.Writer) io.Writer { return &hereLines{to: to, host: h} }

// commandMarks recognize lines with a command by their beginning, mark; before and behind are the
// parts of the line around the command.
var commandMarks = []struct{ mark, before, behind string }{{"paw: hint: ", "paw: hint: ", "\n"}, {"paw attach ", "", " shows it\n"}}

func (l *hereLines) Write(text []byte) (int, error) {
	var out strings.Builder
	for line := range strings.Lines(l.held + string(text)) {
		l.held = ""
		whole := strings.HasSuffix(line, "\n")
		before, behind, command := l.command(line)
		switch {
		case !command:
			out.WriteString(line)
			l.mid = !whole
		case whole:
			out.WriteString(before + l.host.Here(strings.TrimSuffix(line[len(before):], behind)) + behind)
		default:
			l.held = line
		}
	}
	_, err := io.WriteString(l.to, out.String())
	return len(text), err
}

// command reports whether a line is a command, or may become one, and returns what is before and
// behind it.
func (l *hereLines) command(line string) (before, behind string, is bool) {
	for _, m := range commandMarks {
		if !l.mid && len(line) < longestComplaint && (strings.HasPrefix(line, m.mark) && (line[len(line)-1] != '\n' || strings.HasSuffix(line, m.behind)) || strings.HasPrefix(m.mark, line)) {
			return m.before, m.behind, true
		}
	}
	return "", "", false
}
