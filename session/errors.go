package session

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotFound is the cause of an error about a session that has no record.
var ErrNotFound = errors.New("no such session")

// errChanged is the cause of an error about a record that another program has written while a paw held its lock.
var errChanged = errors.New("the record was changed by another program meanwhile")

// CorruptError is a record that cannot be understood. The file is left as it is; SetAsideCorrupt moves it away.
type CorruptError struct {
	Name   string // from the file's name
	Path   string
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("session %s: corrupt record %s: %s", e.Name, e.Path, e.Reason)
}

// VersionError is a record written by a newer paw. It is neither read nor overwritten.
type VersionError struct {
	Name    string
	Path    string
	Version int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("session %s: record %s has version %d, this paw knows versions up to %d",
		e.Name, e.Path, e.Version, Version)
}

// TakenError is the answer to Create when there is a record of that name, readable or not.
type TakenError struct {
	Name     string
	RepoPath string // repository of the owner, "" when the record cannot be read
	Path     string
}

func (e *TakenError) Error() string {
	if e.RepoPath == "" {
		return fmt.Sprintf("session %s: name is taken by the record %s", e.Name, e.Path)
	}
	return fmt.Sprintf("session %s: name is taken by the session of %s", e.Name, e.RepoPath)
}

// AmbiguousError is the answer to FindByRepo when several sessions fit.
type AmbiguousError struct {
	Path     string
	Sessions []*Session // by name
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s: several sessions: %s", e.Path, strings.Join(names(e.Sessions), ", "))
}

// LockedError is a lock that another process holds. It unwraps to the reason why waiting ended, such as
// context.DeadlineExceeded or context.Canceled.
type LockedError struct {
	Object string // what is locked, such as "session demo"
	PID    int    // holder, 0 when it is not known
	Path   string // lock file
	Err    error
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return e.Object + ": locked by another process"
	}
	return fmt.Sprintf("%s: locked by process %d", e.Object, e.PID)
}

func (e *LockedError) Unwrap() error { return e.Err }
