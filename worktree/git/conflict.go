package git

import (
	"fmt"
	"strings"
)

// ConflictError says what is in the way of an agent's worktree or branch. Hint is a command that
// helps, "" for none. If Branch cannot be used, Free is another name that can; else both are "".
type ConflictError struct{ Agent, What, Hint, Branch, Free string }

func (e *ConflictError) Error() string {
	if e.Agent == "" {
		return e.What
	}
	return e.Agent + ": " + e.What
}

// Conflict makes a ConflictError whose What is formatted.
func Conflict(agent, hint, format string, args ...any) *ConflictError {
	return &ConflictError{Agent: agent, What: fmt.Sprintf(format, args...), Hint: hint}
}

// Quote quotes a path for a shell.
func Quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
