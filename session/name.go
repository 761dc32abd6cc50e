package session

import (
	"fmt"
	"strings"
)

// MaxName is the length limit, in characters, of session names, agent names and turn-session names.
const MaxName = 64

// maxDerived bounds names that NameFrom makes, so that a derived session name with a suffix such as _12, a derived
// agent name and the underscore between them are a turn-session name: 30 + 3 + 1 + 30 = 64.
const maxDerived = 30

// nameLetters are the characters of a name.
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

// ValidateName checks a name of the given kind, "session" or "agent": ASCII letters, digits and underscores only, at
// most MaxName of them. Such a name is safe in a git ref, as a tmux target, as a file name and in a shell. The error is
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

// ValidTurnSession checks both names and that the name of the agent's turn session, <session>_<agent>, is not too
// long. The error is a *NameError.
func ValidTurnSession(session, agent string) error {
	if err := ValidateName("session", session); err != nil {
		return err
	}
	if err := ValidateName("agent", agent); err != nil {
		return err
	}
	return ValidateName("turn session", session+"_"+agent)
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

// NameFrom makes a valid name out of the name of a directory or a branch: every run of other characters becomes one
// underscore. The result is short enough that a derived session name and a derived agent name always make a valid
// turn-session name. It is "" when nothing usable is left.
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
