package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// MaxName limits the names of sessions, agents and turn sessions, in characters.
const MaxName = 64

// maxDerived limits the names that NameFrom makes, in characters: a derived session name with a
// suffix such as _12, an underscore and a derived agent name fit into a turn session's name (30 + 3
// + 1 + 30 = 64).
const maxDerived = 30

// nameLetters lists the characters allowed in names.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// NameError says what is wrong with a name.
type NameError struct {
	Kind   string // "session", "agent" or "turn session"
	Name   string
	Reason string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("%s name %q: %s", e.Kind, e.Name, e.Reason)
}

// ValidateName accepts names of 1 to MaxName ASCII letters, digits and underscores: safe in git
// refs, tmux targets, file names and shells. kind, "session" or "agent", is for the error, which is
// a *NameError.
func ValidateName(kind, name string) error {
	if reason := nameFault(name); reason != "" {
		if usable := NameFrom(name); usable != "" && strings.Trim(name, nameLetters) != "" {
			reason += ", such as " + usable
		}
		return &NameError{Kind: kind, Name: name, Reason: reason}
	}
	return nil
}

// ValidTurnSession checks both names, and the length of the turn session's name <session>_<agent>.
// The error is a *NameError.
func ValidTurnSession(session, agent string) error {
	if err := ValidateName("session", session); err != nil {
		return err
	}
	if err := ValidateName("agent", agent); err != nil {
		return err
	}
	long, kind, name, other := len(session+"_"+agent), "session", session, agent
	if len(agent) > len(session) {
		kind, name, other = "agent", agent, session
	}
	if long > MaxName {
		return &NameError{Kind: kind, Name: name, Reason: fmt.Sprintf("%d characters long with that of %s, at most %d are allowed", long, other, MaxName)}
	}
	return nil
}

func nameFault(name string) string {
	switch {
	case name == "":
		return "empty"
	case strings.TrimSpace(name) == "":
		return "blank"
	case strings.ContainsAny(name, "\r\n"):
		return "more than one line"
	case strings.TrimSpace(name) != name:
		return "space around it"
	case strings.Trim(name, nameLetters) != "":
		return "only letters, digits and _ are allowed"
	case len(name) > MaxName:
		return fmt.Sprintf("%d characters long, at most %d are allowed", len(name), MaxName)
	}
	return ""
}

// NameFrom derives a valid name from the name of a directory or branch: each run of other
// characters becomes an underscore. A derived session name and a derived agent name always make a
// valid turn session name. The result is "" when no letter or digit is left.
func NameFrom(text string) string {
	if len(text) <= maxDerived && strings.Trim(text, nameLetters) == "" {
		return text
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
	name := strings.Trim(strings.Join(words, "_"), "_")
	if len(name) > maxDerived {
		name = name[:maxDerived]
	}
	return strings.TrimRight(name, "_")
}

func textFault(texts ...string) string {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Sprintf("%q: not UTF-8", text)
		}
	}
	return ""
}

func pathFault(path string) string {
	switch {
	case path == "":
		return "" // The path is unknown so far, or the repository is bare.
	case !filepath.IsAbs(path):
		return "not an absolute path"
	case !utf8.ValidString(path):
		return "not UTF-8"
	}
	return ""
}

// isFar reports whether a record's name is that of a far session.
func isFar(name string) bool { return strings.Contains(name, ":") }

// recordNameFault returns what is wrong with a record's name, "" for a valid one.
func recordNameFault(name string) string {
	host, own, far := strings.Cut(name, ":")
	if !far {
		return nameFault(name)
	}
	if host == "" || strings.Trim(host, nameLetters+"-") != "" || len(host) > MaxName {
		return "no name of a host"
	}
	return nameFault(own)
}

// validateRecordName returns an error for an invalid name of a record, far or not.
func validateRecordName(name string) error {
	if !isFar(name) {
		return ValidateName("session", name)
	}
	if reason := recordNameFault(name); reason != "" {
		return &NameError{Kind: "session", Name: name, Reason: reason}
	}
	return nil
}
