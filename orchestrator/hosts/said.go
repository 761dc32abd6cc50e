package hosts

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/display"
	"paw/config/lazyregexp"
)

// Said is an object in the JSON of a host's paw (docs/json.md). Its texts are safe for a terminal. A
// field that is missing, null or of another type is empty.
type Said map[string]any

// parse returns the object that an answer is, nil for anything else.
func parse(answer []byte) (s Said) {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber() // what is passed on stays as it was
	if decoder.Decode(&s) != nil {
		return nil
	}
	return s
}

// errNotUnderstood is said of an answer that no paw gives.
const errNotUnderstood = "its answer is not understood"

var name = lazyregexp.New(`^[a-zA-Z0-9_]+$`)

// named reports whether the names of sessions and agents in an answer are names: they become parts
// of lines to paste.
func (s Said) named() bool {
	fine := func(one Said, field string, may bool) bool {
		text, is := one[field].(string)
		return may && text == "" || is && name().MatchString(text)
	}
	for _, of := range s.List("sessions") {
		if !fine(of, "name", false) || !of.named() {
			return false
		}
	}
	for _, agent := range s.List("agents") {
		if !fine(agent, "name", false) || !fine(agent, "parent", true) {
			return false
		}
	}
	return fine(s, "session", true)
}

// Text returns a text as one line.
func (s Said) Text(name string) string {
	text, _ := s[name].(string)
	return display.OneLine(text)
}

// Lines returns a text of several lines.
func (s Said) Lines(name string) string {
	text, _ := s[name].(string)
	return display.Printable(text)
}

// Count returns a number, nil for none.
func (s Said) Count(name string) *int {
	number, _ := s[name].(json.Number)
	n, err := strconv.Atoi(number.String())
	if err != nil {
		return nil
	}
	return &n
}

// Number returns a number, 0 for none.
func (s Said) Number(name string) int {
	if n := s.Count(name); n != nil {
		return *n
	}
	return 0
}

// Yes reports whether a field is true.
func (s Said) Yes(name string) bool { return s[name] == true }

// Time returns a time, nil for none.
func (s Said) Time(name string) *time.Time {
	text, _ := s[name].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.IsZero() {
		return nil
	}
	return &at
}

// List returns the objects of a list.
func (s Said) List(name string) (all []Said) {
	list, _ := s[name].([]any)
	for _, one := range list {
		if object, is := one.(map[string]any); is {
			all = append(all, object)
		}
	}
	return all
}

// only drops all fields but the named ones.
func (s Said) only(names ...string) {
	maps.DeleteFunc(s, func(name string, _ any) bool { return !slices.Contains(names, name) })
}

// knownVersion is the version of paw status --json that this program knows. From higher versions it
// reads only names and states.
const knownVersion = 1

// Sessions returns the sessions in an answer.
func (a Answer) Sessions() []Said {
	said := parse(a.Status)
	sessions := said.List("sessions")
	if said.Number("version") <= knownVersion {
		return sessions
	}
	for _, s := range sessions {
		s.only("name", "status", "agents")
		for _, agent := range s.List("agents") {
			agent.only("name", "state")
		}
	}
	return sessions
}

// Objects returns the sessions of an answer as received, with the host's name added to them and to
// their agents.
func (a Answer) Objects() (objects []any) {
	for _, s := range parse(a.Status).List("sessions") {
		s["host"] = a.Host
		for _, agent := range s.List("agents") {
			agent["host"] = a.Host
		}
		objects = append(objects, s)
	}
	return objects
}

// VersionIn returns the version in the output of paw version --json.
func VersionIn(answer []byte) string { return parse(answer).Text("paw") }

// InstalledIn names the installed CLIs in the output of paw clis --json.
func InstalledIn(answer []byte) string {
	var names []string
	for _, one := range parse(answer).List("clis") {
		if one.Yes("installed") {
			names = append(names, strings.TrimSpace(one.Text("name")+" "+one.Text("version")))
		}
	}
	return strings.Join(names, ", ")
}
