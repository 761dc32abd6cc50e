package cli

import (
	"strings"
)

// longestID is longer than any id that a CLI uses (36 characters, opencode 30).
const longestID = 128

// CheckID refuses an id that could be read as an option, leave its folder or match several files. Ids come from files
// that other programs write.
func CheckID(cli, id string) error {
	var reason string
	switch {
	case id == "":
		reason = "no conversation id"
	case len(id) > longestID:
		reason = "longer than an id can be"
	case strings.HasPrefix(id, "-") || strings.HasPrefix(id, "."):
		reason = "begins like an option or a path"
	case strings.ContainsFunc(id, func(r rune) bool {
		return !Alphanumeric(r) && !strings.ContainsRune("-_.", r)
	}):
		reason = "has a character no id has"
	default:
		return nil
	}
	return &ConversationError{CLI: cli, ID: id, Reason: reason}
}

// Alphanumeric is an ASCII letter or digit.
func Alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
