package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Error describes a mistake in a configuration file or in a PAW_* variable.
type Error struct {
	File    string // path of the file, "" for a variable
	Line    int    // counted from 1; 0 for a variable, and for a file that cannot be read
	Key     string // the key, such as worktree.copy, or the variable; "" when the file is not TOML
	Nearest string // the nearest known name, "" for none
	Message string // what is wrong, starting with the key
	// Unknown says that the only mistakes are unknown keys; all other keys are loaded.
	Unknown bool
	// InRepository says that File is a repository's; then only that file's settings are left out.
	InRepository bool
}

// Error returns "file:line: message", or the message alone without a line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

// Hint returns a question that suggests the nearest known name; "" without one.
func (e *Error) Hint() string {
	if e.Nearest == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", e.Nearest)
}

// joinKey writes a key in TOML: dotted, with quotes around parts that need them. Quoting also
// escapes control characters.
func joinKey(parts []string) string {
	quoted := make([]string, len(parts))
	for i, part := range parts {
		quoted[i] = part
		if !isBare(part) {
			quoted[i] = strconv.Quote(part)
		}
	}
	return strings.Join(quoted, ".")
}

func isBare(part string) bool {
	for _, r := range part {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
		default:
			return false
		}
	}
	return part != ""
}

// Nearest returns the candidate with the smallest edit distance to name, the first of several; ""
// if more than a third of the letters differ in each.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", -1
	for _, candidate := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(candidate))
		if d > (max(len(name), len(candidate))+2)/3 {
			continue
		}
		if bestDistance < 0 || d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance returns the edit distance from a to b: insertions, deletions, substitutions, and swaps
// of neighbours.
func distance(a, b string) int {
	var before []int // the row before previous, for swaps
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := previous[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, previous[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}
