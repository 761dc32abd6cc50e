package worktree

import (
	"errors"
	"fmt"
	"path/filepath"

	"paw/worktree/git"
)

// ErrNotRepository means that a directory lies in no git repository.
var ErrNotRepository = errors.New("not a git repository")

// ErrNoCommits means that a repository has no commit to start a branch from.
var ErrNoCommits = errors.New("the repository has no commits yet")

// RefError is a revision that names no commit.
type RefError struct{ Ref string }

func (e *RefError) Error() string { return fmt.Sprintf("%s: no such commit", e.Ref) }

// ConflictError is something in the way of an agent's worktree or branch. Hint
// is a way out, "" when there is none to name. Free is a branch that could be used instead of Branch, both "" where the
// conflict is another one.
type ConflictError struct{ Agent, What, Hint, Branch, Free string }

func (e *ConflictError) Error() string {
	if e.Agent == "" {
		return e.What
	}
	return e.Agent + ": " + e.What
}

func conflict(agent, hint, format string, args ...any) *ConflictError {
	return &ConflictError{Agent: agent, What: fmt.Sprintf(format, args...), Hint: hint}
}

// MismatchError is a directory that is not the worktree it should be. What is
// "directory", "repository", "registration" or "branch".
type MismatchError struct{ Path, What, Want, Got string }

func (e *MismatchError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("%s: not the expected %s (%s)", e.Path, e.What, e.Want)
	}
	return fmt.Sprintf("%s: not the expected %s: %s instead of %s", e.Path, e.What, e.Got, e.Want)
}

// NotEmptyError is a directory that is no repository and not empty either.
type NotEmptyError struct{ Dir string }

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("%s: not a git repository and not empty", e.Dir)
}

// CorruptIndex is the checkout, and the file in it, of an index that git could not read, "" when err says nothing of one.
func CorruptIndex(err error) (checkout, file string) {
	var failed *git.Error
	if !errors.As(err, &failed) || !failed.CorruptIndex() {
		return "", ""
	}
	admin, found := gitDirOf(failed.Dir)
	if !found {
		return "", ""
	}
	return failed.Dir, filepath.Join(admin, "index")
}
