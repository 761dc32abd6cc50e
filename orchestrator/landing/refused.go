package landing

import (
	"errors"

	"paw/orchestrator/errs"
	"paw/worktree"
)

// notComposed adds hints to an error of git while the commits were made.
func (l *landing) notComposed(err error, t target) error {
	switch {
	case errors.Is(err, worktree.ErrUnrelated) && l.session.Host != "":
		return notAClone(l.name(), t)
	case errors.Is(err, worktree.ErrUnrelated):
		return errs.New(errs.Refused, "%s: its branch %s has no commit in common with %s", l.name(), l.agent.Branch, t.branch).
			Hint("git -C %s merge --allow-unrelated-histories %s", errs.Quote(t.place(l.m)), l.composer.source.state)
	case errors.Is(err, worktree.ErrNotSigned):
		return errs.WithHints(err, `git config --show-origin --get-regexp "^(user.signingkey|commit.gpgsign|gpg[.])"`)
	case errors.Is(err, worktree.ErrNoIdentity) && l.options.As == Commits: // the author in one of the agent's commits, or the user, has no name
		return errs.WithHints(err, "paw land "+l.name()+" --as squash", "git config user.name")
	case errors.Is(err, worktree.ErrNoIdentity):
		return errs.WithHints(err, `git config user.name "YOUR NAME" && git config user.email you@example.com`)
	}
	return err
}

// notMoved returns a better error for a landing that moves a submodule: paw cannot do that in the
// user's checkout, git merge can.
func (l *landing) notMoved(err error, t target) error {
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
		Hint("git -C %s merge %s", errs.Quote(t.checkout.Path), l.composer.source.state)
}
