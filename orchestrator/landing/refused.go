package landing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"paw/orchestrator/errs"
	"paw/worktree"
	"paw/worktree/objects"
)

// collided returns the error for a merge with conflicts. The hints are the two ways to go on.
func (c *composer) collided(ctx context.Context, t target, merged objects.Merged) error {
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

// notComposed adds hints to an error of git while the commits were made.
func (c *composer) notComposed(err error, t target) error {
	switch {
	case errors.Is(err, objects.ErrUnrelated) && c.session.Host != "":
		return notAClone(c.name(), t)
	case errors.Is(err, objects.ErrUnrelated):
		return errs.New(errs.Refused, "%s: its branch %s has no commit in common with %s", c.name(), c.agent.Branch, t.branch).
			Hint("git -C %s merge --allow-unrelated-histories %s", errs.Quote(t.place(c.m)), c.source.state)
	case errors.Is(err, objects.ErrNotSigned):
		return errs.WithHints(err, `git config --show-origin --get-regexp "^(user.signingkey|commit.gpgsign|gpg[.])"`)
	case errors.Is(err, objects.ErrNoIdentity) && c.as == Commits: // the author in one of the agent's commits, or the user, has no name
		return errs.WithHints(err, "paw land "+c.name()+" --as squash", "git config user.name")
	case errors.Is(err, objects.ErrNoIdentity):
		return errs.WithHints(err, `git config user.name "YOUR NAME" && git config user.email you@example.com`)
	}
	return err
}

// notMoved returns a better error for a landing that moves a submodule: paw cannot do that in the
// user's checkout, git merge can.
func (c *composer) notMoved(err error, t target) error {
	var obstacles *worktree.ObstacleError
	if !errors.As(err, &obstacles) {
		return err
	}
	var submodules []string
	for _, one := range obstacles.Obstacles {
		if one.What == worktree.ObstacleSubmodule {
			submodules = append(submodules, one.Path)
		}
	}
	if len(submodules) == 0 {
		return err
	}
	return errs.New(errs.Refused, "%s: not touched, the landing would add, remove or move a submodule: %s", obstacles.Path, few(submodules, namedObstacles)).
		Hint("git -C %s merge %s", errs.Quote(t.checkout.Path), c.source.state)
}
