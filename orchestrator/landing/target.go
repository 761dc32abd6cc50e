package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// target is the branch to land in, as it is at one moment.
type target struct {
	branch   string
	tip      string
	usual    string           // target of the session: what agents got from it counts as got from any branch that has it; "" where only this branch counts
	checkout *gitdir.Checkout // nil if the branch is not checked out
}

// place returns the directory whose git attributes apply to merges.
func (t target) place(m *worktree.Manager) string {
	if t.checkout != nil {
		return t.checkout.Path
	}
	return app.RootIn(m.Repository)
}

// branchFor returns the branch that the agent's work lands in. line returns the command with another
// branch, for a hint.
func (w work) branchFor(into string, line func(branch string) string) (string, error) {
	if branch := cmp.Or(into, w.Session.Target); branch != "" {
		return branch, nil
	}
	e := errs.New(errs.Usage, "%s: into which branch? it is not known which was checked out where session %s was started", w.Record.Name, w.Session.Name)
	if branch := w.branchHere(); branch != "" {
		return "", e.Hint("%s", line(branch))
	}
	return "", e.Hint("git branch")
}

// lookAtTarget looks up a branch and its checkout. It refuses a branch that an agent works on, and
// a checkout with an unfinished merge, rebase or the like. line returns the command with another
// branch, for hints.
func (w work) lookAtTarget(ctx context.Context, branch string, line func(branch string) string) (target, error) {
	t := target{branch: branch, usual: w.Session.Target}
	var err error
	if t.tip, err = tipOf(ctx, w.Repo, branch); err != nil {
		return t, w.withBranchHere(err, branch, line)
	}
	if owner := w.agentOn(branch); owner != "" {
		return t, errs.New(errs.Refused, "branch %s: %s works on it", branch, owner).Hint("git branch")
	}
	if t.checkout, err = w.Repo.Registry().CheckoutOf(ctx, branch); err != nil {
		return t, refusedBy(err)
	}
	if t.checkout != nil && strings.HasPrefix(t.checkout.Owner, app.OwnerPrefix) {
		return t, errs.New(errs.Refused, "branch %s: checked out in the worktree of an agent, %s", branch, t.checkout.Path).Hint("git branch")
	}
	return t, nil
}

// withBranchHere adds, if the target does not exist any more, the command with the branch of the main
// checkout: the target may have been renamed.
func (w work) withBranchHere(err error, branch string, line func(branch string) string) error {
	here := w.branchHere()
	var e *errs.Error
	if here == "" || here == branch || w.Session.Target != branch || !errors.As(err, &e) {
		return err
	}
	e.Hints = nil
	return e.Hint("%s", line(here))
}

// branchHere returns the branch of the main checkout, "" for none. For a bare repository it is the
// branch that HEAD names.
func (w work) branchHere() string {
	repository, err := gitdir.Discover(w.Session.RepoPath)
	if err != nil {
		return ""
	}
	return (&worktree.Manager{Repository: repository}).Refs().CurrentBranch()
}

// tipOf returns the commit of a branch that must exist.
func tipOf(ctx context.Context, m *worktree.Manager, branch string) (string, error) {
	tip, err := m.Refs().BranchTip(ctx, branch)
	var odd *git.ConflictError
	switch {
	case errors.As(err, &odd):
		return "", errs.New(errs.Usage, "%w", err).Hint("git branch")
	case err == nil && tip == "":
		return "", errs.New(errs.Usage, "branch %s: does not exist", branch).Hint("git branch")
	}
	return tip, err
}

// agentOn returns the agent with a branch, in any session of the repository; "" for none.
func (w work) agentOn(branch string) string {
	sessions, err := w.allRecords()
	if err != nil {
		sessions = []*session.Session{w.Session}
	}
	for _, s := range sessions {
		for _, one := range s.Agents {
			if s.Host == "" && s.GitCommonDir == w.Session.GitCommonDir && one.Branch == branch {
				return s.Name + "/" + one.Name
			}
		}
	}
	return ""
}

// unobstructed refuses a move of a checkout that would overwrite something.
func unobstructed(ctx context.Context, m *worktree.Manager, at *gitdir.Checkout, from, to, filesFrom string) error {
	obstacles, err := m.Moves().Obstacles(ctx, *at, from, to, filesFrom)
	if err == nil && len(obstacles) > 0 {
		err = &worktree.ObstacleError{Path: at.Path, Obstacles: obstacles}
	}
	return refusedBy(err)
}

// namedObstacles limits the obstacles that an error names.
const namedObstacles = 10

// refusedBy converts a refusal of package worktree to an error for the user.
func refusedBy(err error) error {
	var c *git.ConflictError
	var obstacles *worktree.ObstacleError
	switch {
	case errors.As(err, &obstacles):
		e := errs.New(errs.Refused, "%s: not touched, the landing would write over %s", obstacles.Path, few(obstacles.Obstacles, namedObstacles))
		e.Err = err
		return e.Hint("git -C %s status --ignored", errs.Quote(obstacles.Path))
	case errors.As(err, &c):
		e := errs.New(errs.Refused, "%w", err)
		if c.Hint != "" {
			return e.Hint("%s", c.Hint)
		}
		return e
	}
	return err
}

// few names the first files and counts the others.
func few[F any](files []F, most int) string {
	var names []string
	for _, one := range files[:min(len(files), most)] {
		names = append(names, onOneLine(fmt.Sprint(one)))
	}
	if more := len(files) - most; more > 0 {
		names = append(names, errs.Counted(more, "other file"))
	}
	return strings.Join(names, ", ")
}

// onOneLine quotes a file name that contains control characters.
func onOneLine(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// Collision is a file in which two sides conflict.
type Collision struct {
	Path   string `json:"path"`
	With   string `json:"with"` // whose work is on the other side, "" if unknown
	Beside bool   `json:"-"`    // one side has a folder of that name: git merge leaves the file of the other one as Path~NAME
}

// CollisionError reports that work conflicts with a target or, without offer, that landed work which
// the target has lost cannot be told from later work in the same files: the agent can settle these
// by merging the target into its branch. Nothing has moved.
type CollisionError struct {
	error
	Files []Collision
	offer bool // the state can be offered for a merge by hand
}

func (e *CollisionError) Unwrap() error { return e.error }

// CollisionsOf returns the files in a CollisionError, nil for other errors.
func CollisionsOf(err error) []Collision {
	if collided, ok := errors.AsType[*CollisionError](err); ok {
		return collided.Files
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
