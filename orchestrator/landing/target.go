package landing

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

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
	checkout *gitdir.Checkout // nil if the branch is not checked out
}

// place returns the directory whose git attributes apply to merges.
func (t target) place(m *worktree.Manager) string {
	if t.checkout != nil {
		return t.checkout.Path
	}
	return app.RootIn(m.Repository)
}

// branchFor returns the branch that the agent's work lands in.
func (w work) branchFor(ctx context.Context) (string, error) {
	if w.into != "" {
		return w.into, nil
	}
	if w.follow(ctx, w.Session.Target); w.Session.Target != "" {
		return w.Session.Target, nil
	}
	err := errs.New(errs.Usage, "%s: into which branch? it is not known which was checked out where session %s was started", w.Record.Name, w.Session.Name)
	return "", w.withBranch(ctx, err)
}

// follow gives the sessions of the repository the new name of a branch that the user has renamed
// since the agent's session began. git's log of the branch has both names.
func (w work) follow(ctx context.Context, branch string) {
	if tip, err := w.Repo.Refs().BranchTip(ctx, branch); tip != "" || err != nil || w.Session.Host != "" {
		return
	}
	now := w.Repo.Refs().RenamedTo(branch, w.Session.CreatedAt)
	if now == "" {
		return
	}
	rename := func(s *session.Session) error {
		if s.Target == branch {
			s.Target = now
		}
		for i := range s.Landings {
			if s.Landings[i].Target == branch {
				s.Landings[i].Target = now
			}
		}
		return nil
	}
	sessions, _ := w.allRecords()
	for _, s := range sessions {
		if s.GitCommonDir == w.Session.GitCommonDir && s.Host == "" {
			_, _ = w.App.UpdateSoon(ctx, s.Name, rename) // if it cannot be written, the next command finds it again
		}
	}
	_ = rename(w.Session)
	w.App.Notef("branch %s is %s now, for paw too", branch, now)
}

// adopt makes a branch that the user has named the target of a session which has none any more.
func (w work) adopt(ctx context.Context, branch string) error {
	why := "it began on no branch"
	switch old := w.Session.Target; {
	case branch == old || w.Session.Host != "":
		return nil
	case old != "":
		if tip, err := w.Repo.Refs().BranchTip(ctx, old); tip != "" || err != nil {
			return err
		}
		why = old + " is gone"
	}
	w.Session.Target = branch
	w.App.Notef("work of %s lands in %s from now on: %s", w.Session.Name, branch, why)
	_, err := w.App.Update(ctx, w.Session.Name, func(rec *session.Session) error {
		rec.Target = branch
		return nil
	})
	return err
}

// lookAtTarget looks up a branch and its checkout. It refuses a branch that an agent works on, and
// a checkout with an unfinished merge, rebase or the like.
func (w work) lookAtTarget(ctx context.Context, branch string) (target, error) {
	t := target{branch: branch}
	var err error
	if t.tip, err = tipOf(ctx, w.Repo, branch); err != nil {
		return t, w.withBranchHere(ctx, err, branch)
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

// withBranchHere adds to the error about a branch that does not exist the commands that make it, or
// take another one.
func (w work) withBranchHere(ctx context.Context, err error, branch string) error {
	var e *errs.Error
	if !errors.Is(err, errNoBranch) || !errors.As(err, &e) {
		return err
	}
	if branch != w.Session.Target {
		e = e.Hint("git branch %s", errs.Quote(branch))
	}
	return w.withBranch(ctx, e)
}

// withBranch adds the command with a branch that exists: the session's target, the branch of the main
// checkout, or one at the commit that is checked out there. Without one it adds the command that
// makes one.
func (w work) withBranch(ctx context.Context, e *errs.Error) error {
	m := w.Repo.Refs()
	if tip, err := m.BranchTip(ctx, w.Session.Target); err == nil && tip != "" {
		return e.Hint("%s", w.lineInto(w.Session.Target))
	}
	if here := w.branchHere(); here != "" {
		return e.Hint("%s", w.lineInto(here))
	}
	head := ""
	if repository, err := gitdir.Discover(w.Session.RepoPath); err == nil {
		head = m.HeadOf(repository.GitDir)
	}
	branches, _ := m.List(ctx, "refs/heads/")
	for _, ref := range slices.Sorted(maps.Keys(branches)) {
		if branch := strings.TrimPrefix(ref, "refs/heads/"); branches[ref] == head && w.agentOn(branch) == "" {
			return e.Hint("%s", w.lineInto(branch))
		}
	}
	return e.Hint("git branch %s", w.Session.Name).Hint("%s", w.lineInto(w.Session.Name))
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

// errNoBranch is the error for a branch that does not exist.
var errNoBranch = errors.New("does not exist")

// tipOf returns the commit of a branch that must exist.
func tipOf(ctx context.Context, m *worktree.Manager, branch string) (string, error) {
	tip, err := m.Refs().BranchTip(ctx, branch)
	var odd *git.ConflictError
	switch {
	case errors.As(err, &odd):
		return "", errs.New(errs.Usage, "%w", err).Hint("git branch")
	case err == nil && tip == "":
		return "", errs.New(errs.Usage, "branch %s: %w", branch, errNoBranch)
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
		for _, one := range obstacles.Obstacles {
			if one.What == worktree.ObstacleAssumed || one.What == worktree.ObstacleSkipped {
				return e.Hint("git -C %s update-index --no-%s -- %s", errs.Quote(obstacles.Path), one.What, errs.Quote(one.Path))
			}
		}
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
