package landing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"paw/worktree"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/worktree/objects"
)

// compose merges the agent's state with a target. It returns nil if the target has all of the
// state, and a *CollisionError on conflicts.
func (c *composer) compose(ctx context.Context, t target) (*composed, error) {
	if err := c.lookAtBoth(ctx, t); err != nil {
		return nil, err
	}
	if c.sides.theirs == t.tip {
		return nil, errors.Join(c.noteRewound(ctx, t), c.lostOnly(t))
	}
	go func() { _, _ = c.signs() }() // asks git while git merges
	merged, err := c.Repo.Objects().MergeTree(ctx, t.place(c.Repo), c.sides.ours, c.sides.theirs)
	if err != nil {
		return nil, err
	}
	if err := c.noteRewound(ctx, t); err != nil {
		return nil, err
	}
	if len(merged.Conflicts) > 0 {
		return nil, c.collided(ctx, t, merged)
	}
	commit := c.commitAhead(ctx, t, merged.Tree)
	tree, err := c.withIgnored(ctx, t, merged.Tree)
	files := 0
	if err == nil {
		files, err = c.changed(ctx, t.tip, tree)
	}
	ahead, aheadErr := commit()
	if err != nil || files == 0 {
		return nil, errors.Join(err, c.lostOnly(t))
	}
	c.noteLost(t)
	if ahead != nil && ahead.tree == tree {
		ahead.files = files
		return ahead, aheadErr
	}
	one := &composed{tree: tree, state: c.sides.state, files: files}
	return one, c.commit(ctx, t, one)
}

// commitAhead makes the commit of a merged tree while its changed files are counted; the tree that
// lands may turn out to be another one. It returns a function that waits for the commit. The
// function returns nil where making the commit would ask the user, or takes several commits.
func (c *composer) commitAhead(ctx context.Context, t target, tree string) (wait func() (*composed, error)) {
	if signs, err := c.signs(); err != nil || signs || c.options.Edit != nil || c.options.As != Squash {
		return func() (*composed, error) { return nil, nil }
	}
	one, made := &composed{tree: tree, state: c.sides.state}, make(chan error, 1)
	go func() { made <- c.commit(ctx, t, one) }()
	return func() (*composed, error) { return one, <-made }
}

// commit makes the commits of a landing, in the form that the user chose.
func (c *composer) commit(ctx context.Context, t target, one *composed) error {
	facts, own, err := c.lookAtWork(ctx, one)
	if err != nil {
		return err
	}
	one.title, one.commits = facts.title(), 1
	facts.Listed = c.options.As == Squash
	parents := []string{t.tip}
	switch c.options.As {
	case Squash:
	case Commits:
		tips, err := c.replay(ctx, t, own)
		if err != nil {
			return err
		}
		last := len(tips) - 1
		if tree, err := c.Repo.Objects().TreeOf(ctx, tips[last]); err != nil || tree == one.tree {
			one.commits, one.commit = last, tips[last]
			return err
		}
		one.commits, parents = last+1, tips[last:]
		facts.Commits = nil
	case Merge:
		if len(c.sides.left) > 0 || c.sides.h != nil && c.sides.h.hasLeft(c.source.head) {
			return errs.New(errs.Refused, "%s: --as merge would bring commits that it got and that %s does not have", c.name(), t.branch).
				Hint("%s", c.squashLine())
		}
		side, err := c.side(ctx, facts)
		if err != nil {
			return err
		}
		parents = append(parents, side)
	}
	text, err := c.message(facts.message())
	if err != nil {
		return err
	}
	one.title = display.FirstLine(text)
	one.commit, err = c.make(ctx, objects.NewCommit{Tree: one.tree, Parents: parents, Message: text})
	return err
}

// make makes a commit for the target, signed if the user signs commits.
func (c *composer) make(ctx context.Context, one objects.NewCommit) (commit string, err error) {
	if one.Sign, err = c.signs(); err != nil {
		return "", err
	}
	return c.Repo.Objects().Commit(ctx, one)
}

// replay makes the agent's commits again on top of a target. tips are the resulting commits,
// beginning with the target's tip. Commits whose changes the target has are left out.
func (c *composer) replay(ctx context.Context, t target, own []objects.CommitInfo) (tips []string, err error) {
	tips = []string{t.tip}
	for _, one := range own {
		tip := tips[len(tips)-1]
		picked, err := c.pick(ctx, t, tip, one)
		if err != nil {
			return nil, err
		}
		if len(picked.Conflicts) > 0 {
			return nil, errs.New(errs.Conflict, "%s: its commit %s (%s) alone conflicts with %s: %s",
				c.name(), one.ID[:12], display.FirstLine(one.Message), t.branch, few(picked.Conflicts, namedPaths)).
				Hint("%s", c.squashLine())
		}
		if tree, err := c.Repo.Objects().TreeOf(ctx, tip); err != nil || tree == picked.Tree {
			if err != nil {
				return nil, err
			}
			continue
		}
		next, err := c.make(ctx, objects.NewCommit{Tree: picked.Tree, Parents: []string{tip}, Message: one.Message, Author: one.Author})
		if err != nil {
			return nil, err
		}
		tips = append(tips, next)
	}
	return tips, nil
}

// pick applies one commit of the agent to a commit of the target. The commit's parent may be no
// usable base, if changes it builds on landed without being committed; then the common base of both
// sides is used.
func (c *composer) pick(ctx context.Context, t target, onto string, one objects.CommitInfo) (objects.Merged, error) {
	picked, err := c.Repo.Objects().PickTree(ctx, t.place(c.Repo), onto, one)
	if err != nil || len(picked.Conflicts) == 0 || c.sides.h == nil {
		return picked, err
	}
	base, err := c.asker.base(ctx, c.sides)
	if err != nil {
		return picked, err
	}
	tree := base // for a commit without parents
	if len(one.Parents) > 0 {
		if tree, err = c.Repo.Objects().TreeWith(ctx, one.Parents[0], base, picked.Conflicts); err != nil {
			return picked, err
		}
	}
	return c.Repo.Objects().MergeTrees(ctx, t.place(c.Repo), tree, onto, one.ID)
}

// side returns the second parent of a merge: the agent's branch, with a commit for what is not
// committed.
func (c *composer) side(ctx context.Context, facts messageFacts) (string, error) {
	if c.source.state == c.source.head {
		return c.source.head, nil
	}
	tree, err := c.Repo.Objects().TreeOf(ctx, c.source.state)
	if err != nil {
		return "", err
	}
	facts.Asked, facts.Commits = "", nil
	return c.make(ctx, objects.NewCommit{Tree: tree, Parents: []string{c.source.head}, Message: facts.message()})
}

// withIgnored returns a tree that keeps files of the branch which only look deleted: the agent
// landed them without ever committing them, still has them in its worktree, and ignores them now.
func (c *composer) withIgnored(ctx context.Context, t target, tree string) (string, error) {
	near := c.sides.near
	if near == nil || c.Session.Host != "" {
		return tree, nil
	}
	paths, err := c.Repo.Objects().DeletedPaths(ctx, t.tip, tree)
	if err != nil {
		return "", err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(filepath.Join(c.Record.WorktreePath, filepath.FromSlash(path)))
		return err != nil
	})
	if len(paths) == 0 {
		return tree, nil
	}
	files, err := c.Repo.Objects().IgnoredFiles(ctx, c.Record.WorktreePath)
	if err != nil {
		return "", err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !files[path] }) // not a folder, nor behind a symlink
	if len(paths) == 0 {
		return tree, nil
	}
	head, err := c.Repo.Objects().SnapshotHead(ctx, near.State)
	if err != nil {
		return "", err
	}
	uncommitted, err := c.Repo.Objects().DeletedPaths(ctx, near.State, head)
	if err != nil {
		return "", err
	}
	var ignored []string
	for _, path := range paths {
		if !slices.Contains(uncommitted, path) {
			continue
		}
		touched, err := c.Repo.Objects().LastTouch(ctx, head, c.source.head, path)
		if err != nil {
			return "", err
		}
		if touched == nil {
			ignored = append(ignored, path)
		}
	}
	if len(ignored) == 0 {
		return tree, nil
	}
	c.App.Notef("%s: ignores %s now; %s keeps it", c.name(), few(ignored, namedPaths), t.branch)
	return c.Repo.Objects().TreeWith(ctx, tree, t.tip, ignored)
}

// notComposed adds hints to an error of git while the commits were made.
func (c *composer) notComposed(err error, t target) error {
	switch {
	case errors.Is(err, objects.ErrUnrelated) && c.Session.Host != "":
		return notAClone(c.name(), t)
	case errors.Is(err, objects.ErrUnrelated):
		return errs.New(errs.Refused, "%s: its branch %s has no commit in common with %s", c.name(), c.Record.Branch, t.branch).
			Hint("%s", gitLine(t.branch, t.checkout, "merge --allow-unrelated-histories", c.source.state))
	case errors.Is(err, objects.ErrNotSigned):
		return errs.WithHints(err, `git config --show-origin --get-regexp "^(user.signingkey|commit.gpgsign|gpg[.])"`)
	case errors.Is(err, objects.ErrNoIdentity) && c.options.As == Commits: // the author in one of the agent's commits, or the user, has no name
		return errs.WithHints(err, c.squashLine(), "git config user.name")
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

// collided returns the error for a merge with conflicts. The hints are the two ways to go on.
func (c *composer) collided(ctx context.Context, t target, merged objects.Merged) error {
	base := ""
	if natural, err := c.Repo.Objects().MergeBases(ctx, c.source.state, t.tip); err != nil {
		return err
	} else if len(natural) > 0 {
		base = natural[0]
	}
	e := &CollisionError{}
	for i, path := range merged.Conflicts {
		one := Collision{Path: path, Beside: slices.Contains(merged.Beside, path)}
		if base != "" && i < askedPaths {
			touched, err := c.Repo.Objects().LastTouch(ctx, base, t.tip, path)
			if err != nil {
				return err
			}
			one.With = whose(touched)
		}
		e.Files = append(e.Files, one)
	}
	e.offer = t
	e.error = errs.New(errs.Conflict, "%s: conflicts with %s, nothing has moved: %s", c.name(), t.branch, few(e.Files, namedPaths)).
		Hint("%s", c.conflictLine(t.branch))
	return c.hintAgain(ctx, e)
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
