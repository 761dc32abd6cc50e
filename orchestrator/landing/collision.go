package landing

import (
	"errors"
	"fmt"
)

// Collision is a file in which two sides conflict.
type Collision struct {
	Path   string
	With   string // whose work is on the other side, "" if unknown
	Beside bool   // one side has a folder of that name: git merge leaves the file of the other one as Path~NAME
}

// CollisionError reports that work conflicts with a target. Nothing has moved. A composer makes it
// (see collided).
type CollisionError struct {
	error
	Files  []Collision
	target target
}

func (e *CollisionError) Unwrap() error { return e.error }

// mixedError reports landed work that the target has lost, and that cannot be told from the agent's
// later work in the same files. Nothing has moved. The agent can settle these files by merging the
// target into its branch.
type mixedError struct {
	error
	files []Collision
}

func (e *mixedError) Unwrap() error { return e.error }

// CollisionsOf returns the files in a CollisionError or mixedError, nil for other errors.
func CollisionsOf(err error) []Collision {
	var collided *CollisionError
	var mixed *mixedError
	switch {
	case errors.As(err, &collided):
		return collided.Files
	case errors.As(err, &mixed):
		return mixed.files
	}
	return nil
}

const (
	askedPaths = 20 // files for which git is asked who changed them last
	namedPaths = 5  // files named in the message
)

func (c Collision) String() string {
	if c.With == "" {
		return c.Path
	}
	return fmt.Sprintf("%s (%s)", c.Path, c.With)
}

// fileAndFolder says which other name git merge gives to a file where one side has a folder.
func (c Collision) fileAndFolder() string {
	return fmt.Sprintf("a folder on one side and a file on the other, which git merge leaves as %s~HEAD or %[1]s~COMMIT", onOneLine(c.Path))
}
