package landing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"paw/orchestrator/errs"
	"paw/worktree"
)

// Collision is a file that two sides have changed in ways that do not go together.
type Collision struct {
	Path   string
	With   string // whose work it collides with, "" where that is not known
	Beside bool   // one side has a folder of that name: git merge leaves the file of the other one as Path~NAME
}

// CollisionError is work that does not go together with a target. Nothing has moved.
type CollisionError struct {
	error
	Files  []Collision
	target target
}

func (e *CollisionError) Unwrap() error { return e.error }

// mixedError is work that landed, that a target does not have any more, and that later work of the agent is mixed with in some files:
// what would land cannot be told. Nothing has moved. An agent that merges the target into its branch settles these files.
type mixedError struct {
	error
	files []Collision
}

func (e *mixedError) Unwrap() error { return e.error }

// CollisionsOf returns the files that keep work from landing: those of a CollisionError or of a mixedError, nil for another error.
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
	askedPaths = 20 // of so many files git is asked who changed them last
	namedPaths = 5  // so many are named in the error itself
)

// collided is the error of a composition with conflicts, with the two ways on.
func (c *composer) collided(ctx context.Context, t target, merged worktree.Merged) error {
	base := ""
	if natural, err := c.m.Objects().MergeBases(ctx, c.source.state, t.tip); err != nil {
		return err
	} else if len(natural) > 0 {
		base = natural[0]
	}
	e := &CollisionError{}
	for i, path := range merged.Conflicts {
		one := Collision{Path: path, Beside: slices.Contains(merged.Beside, path)}
		if base != "" && i < askedPaths {
			touched, err := c.m.Objects().LastTouch(ctx, base, t.tip, path)
			if err != nil {
				return err
			}
			one.With = whose(touched)
		}
		e.Files = append(e.Files, one)
	}
	e.target = t
	e.error = errs.New(errs.Conflict, "%s: conflicts with %s, nothing has moved: %s", c.name(), t.branch, few(e.Files, namedPaths)).
		Hint("paw send %s --conflict", c.name())
	return e
}

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

// whose says whose work a commit is.
func whose(t *worktree.Touched) string {
	switch {
	case t == nil:
		return ""
	case t.Agent != "":
		return "landed by " + t.Agent
	}
	return fmt.Sprintf("%s, %s %s", t.Author, t.Commit, t.Title)
}
