package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"paw/config/lazyregexp"
)

// templateWord matches a word in braces in a template of Worktree.Env. Words stand for values of
// the agent; other braces, such as those of JSON, stay.
var templateWord = lazyregexp.New(`\{[a-zA-Z0-9_+-]*\}`)

// Filling holds the values for the words of a template.
type Filling struct {
	Session, Agent, Repo, Worktree string
	FirstPort, Ports               int // Ports is 0 for an agent without any
}

// valueWords maps the words of a template to their values, except those of ports.
var valueWords = map[string]func(Filling) string{
	"session":  func(f Filling) string { return f.Session },
	"agent":    func(f Filling) string { return f.Agent },
	"repo":     func(f Filling) string { return f.Repo },
	"worktree": func(f Filling) string { return f.Worktree },
	"slug":     func(f Filling) string { return f.uniqueName("-") },
	"name":     func(f Filling) string { return f.uniqueName("_") },
}

// Fill expands a template. ok is false when a word asks for a port that the agent does not have.
func (f Filling) Fill(template string) (value string, ok bool) {
	ok = true
	value = templateWord().ReplaceAllStringFunc(template, func(word string) string {
		word = word[1 : len(word)-1]
		if of := valueWords[word]; of != nil {
			return of(f)
		}
		offset, _ := portOffset(word)
		ok = ok && offset < f.Ports
		return strconv.Itoa(f.FirstPort + offset)
	})
	return value, ok
}

// longestName limits a name for use in other programs, such as a database, in characters.
const longestName = 48

// uniqueName makes a name for the agent of lower case letters, digits and separator. A hash is
// added when two agents could otherwise get the same name.
func (f Filling) uniqueName(separator string) string {
	plain := f.Session + separator + f.Agent
	name := strings.ToLower(strings.ReplaceAll(plain, "_", separator))
	if len(name) <= longestName && name == plain && !strings.Contains(f.Session+f.Agent, "_") {
		return name
	}
	sum := sha256.Sum256([]byte(f.Session + "/" + f.Agent))
	hash := hex.EncodeToString(sum[:4])
	return name[:min(len(name), longestName-len(hash)-1)] + separator + hash
}

// portOffset parses the template word of a port: port, or port+N.
func portOffset(word string) (offset int, ok bool) {
	rest, ok := strings.CutPrefix(word, "port")
	if !ok || rest == "" {
		return 0, ok
	}
	number, plus := strings.CutPrefix(rest, "+")
	offset, err := strconv.Atoi(number)
	return offset, plus && err == nil && offset >= 0 && offset <= largest
}

// checkValue accepts a template with known words only.
func checkValue(template string) *problem {
	known := append(slices.Sorted(maps.Keys(valueWords)), "port", "port+N")
	for _, at := range templateWord().FindAllStringIndex(template, -1) {
		word := template[at[0]:at[1]]
		name := word[1 : len(word)-1]
		if _, ok := portOffset(name); ok || valueWords[name] != nil {
			continue
		}
		p := problemf("unknown word %s (known: {%s})", word, strings.Join(known, "} {"))
		if nearest := Nearest(name, known); nearest != "" {
			p.nearest = "{" + nearest + "}"
		}
		return p
	}
	return checkText(template)
}

// guarded lists prefixes of variables that decide which programs run, and on which repository.
var guarded = []string{"PAW_", "LD_", "DYLD_", "GIT_"}

// checkOwnVariable refuses variables that a project may not set.
func checkOwnVariable(name string) *problem {
	for _, prefix := range guarded {
		if strings.HasPrefix(name, prefix) {
			return problemf("variables that begin with %s cannot be set", prefix)
		}
	}
	if name == "PATH" || name == "HOME" {
		return problemf("%s cannot be set", name)
	}
	return checkVariable(name)
}

// ProjectVariable parses a line KEY=value written by a command of the project.
func ProjectVariable(line string) (name, value string, err error) {
	name, value, found := strings.Cut(line, "=")
	if !found {
		return "", "", fmt.Errorf("not KEY=value")
	}
	p := checkOwnVariable(name)
	if p == nil && strings.ContainsRune(value, 0) {
		p = problemf("has a NUL")
	}
	if p != nil {
		return "", "", fmt.Errorf("%s", p.what)
	}
	return name, value, nil
}

// tooFewPorts returns an error for the first variable that uses a port beyond ports, nil for none.
func tooFewPorts(file string, env map[string]string, ports int) *Error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if _, ok := (Filling{Ports: ports}).Fill(env[name]); ok {
			continue
		}
		e := problemf("asks for more ports than worktree.ports has (%d)", ports).of("worktree.env." + name)
		if d, err := readDocument(file); err == nil && d != nil {
			e = d.fail(toml.Key{"worktree", "env", name}, e)
		}
		return e
	}
	return nil
}
