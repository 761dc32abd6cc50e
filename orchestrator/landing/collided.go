package landing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/worktree/objects"
)

// collided returns the error for a merge with conflicts. The hints are the two ways to go on.
func (l *landing) collided(ctx context.Context, merged objects.Merged) error {
	base := ""
	if natural, err := l.Repo.Objects().MergeBases(ctx, l.source.State, l.tip); err != nil {
		return err
	} else if len(natural) > 0 {
		base = natural[0]
	}
	e := &CollisionError{}
	var err error
	if e.instead, _, err = l.claims(ctx, l.target, l.source); err != nil {
		return err
	}
	for i, path := range merged.Conflicts {
		one := Collision{Path: path, Beside: slices.Contains(merged.Beside, path)}
		if base != "" && i < askedPaths {
			touched, err := l.Repo.Objects().LastTouch(ctx, base, l.tip, path)
			if err != nil {
				return err
			}
			one.With = whose(touched)
		}
		if words := merged.Words(path); words != "" {
			one.With = words
		}
		e.Files = append(e.Files, one)
	}
	e.error = errs.New(errs.Conflict, "%s: conflicts with %s, nothing has moved: %s", l.name(), l.branch, few(e.Files, namedPaths)).
		Hint("%s", l.outOfConflict(ctx, l.target, l.source, l.lands, e.instead))
	if line := l.moveLine(merged); line != "" {
		e.error = errs.WithHints(e.error, line)
	}
	if gone, err := l.lostOf(ctx, l.target, l.lands.known(), l.lands.State); err != nil {
		return err
	} else if slices.ContainsFunc(gone.paths, func(path string) bool { return slices.Contains(merged.Conflicts, path) }) && !l.options.Again {
		e.error = errs.WithHints(e.error, l.line(app.With("again")))
	}
	return e
}

// outOfConflict returns the command that leads out of a conflict: the agent resolves it or, where its git has nothing to merge, the user
// merges its branch. found is what lands: if the target was reset to before commits that the branch has, a note says that a merge brings
// them back. instead is the commit to which HEAD of the worktree has to be reset first, "" for none (see claims).
func (w work) outOfConflict(ctx context.Context, t target, src *source, found *lands, instead string) string {
	has, err := w.Repo.Objects().Contains(ctx, src.Head, t.tip)
	if w.Session.Host != "" || instead != "" || !has || err != nil {
		return w.conflictLine(t.branch)
	}
	if len(found.Gone) > 0 {
		w.App.Notef("%s: its branch has commits that %s has left, and a merge brings them back", w.name(), t.branch)
	}
	line := gitLine(t.branch, t.checkout, "merge", errs.Quote(w.Record.Branch))
	if src.State != src.Head {
		in := "git -C " + errs.Quote(w.Record.WorktreePath)
		line = in + " add -A && " + in + " commit -m resolved && " + line
	}
	return line
}

// moveLine returns the command that moves files of the agent to where the branch has their folder
// now, "" if there is nothing to move.
func (l *landing) moveLine(merged objects.Merged) string {
	moves := ""
	for _, to := range merged.Conflicts {
		from := merged.Moved[to]
		if _, err := os.Lstat(filepath.Join(l.Record.WorktreePath, filepath.FromSlash(from))); from != "" && err == nil && l.Session.Host == "" {
			moves += fmt.Sprintf(" && mkdir -p %s && mv %s %s", errs.Quote(path.Dir(to)), errs.Quote(from), errs.Quote(to))
		}
	}
	if moves == "" {
		return ""
	}
	return "cd " + errs.Quote(l.Record.WorktreePath) + moves
}

// whose says whose work a commit is.
func whose(t *objects.Touched) string {
	switch {
	case t == nil:
		return ""
	case t.Agent != "":
		return "landed by " + t.Agent
	}
	return fmt.Sprintf("%s, %s %s", t.Author, t.Commit, t.Title)
}

// Collision is a file in which two sides conflict.
type Collision struct {
	Path   string `json:"path"`
	With   string `json:"with"` // whose work is on the other side, "" if unknown
	Beside bool   `json:"-"`    // one side has a folder of that name: git merge leaves the file of the other one as Path~NAME
}

// CollisionError reports that work conflicts with a target. Nothing has moved.
type CollisionError struct {
	error
	Files   []Collision
	instead string // the commit to which HEAD of the worktree has to be reset first, "" for none
}

func (e *CollisionError) Unwrap() error { return e.error }

// CollisionsOf returns the files in a CollisionError, nil for other errors.
func CollisionsOf(err error) []Collision {
	if collided, ok := errors.AsType[*CollisionError](err); ok {
		return collided.Files
	}
	return nil
}

// fileAndFolder says which other name git merge gives to a file where one side has a folder.
func (c Collision) fileAndFolder() string {
	return fmt.Sprintf("a file on one side and a folder or a link on the other, which git merge leaves as %s~HEAD or %[1]s~COMMIT", onOneLine(c.Path))
}

// askedPaths limits the files for which git is asked who changed them last.
const askedPaths = 20

func (c Collision) String() string {
	if c.With == "" {
		return c.Path
	}
	return fmt.Sprintf("%s (%s)", c.Path, c.With)
}
