package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/worktree/objects"
)

// merge merges the agent's state with the target, and completes landed with the commits of the
// landing, whose objects it makes. It sets Nothing if the target has all of the state. The error is
// a *CollisionError on conflicts.
func (l *landing) merge(ctx context.Context, landed *Landed) error {
	if err := l.lookAtBoth(ctx); err != nil {
		return err
	}
	if landed.Nothing = l.sides.theirs == l.tip; landed.Nothing {
		return errors.Join(l.noteRewound(ctx), l.lostOnly())
	}
	go func() { _, _ = l.signs() }() // asks git while git merges
	merged, err := l.Repo.Objects().MergeTree(ctx, l.place(l.Repo), l.sides.ours, l.sides.theirs)
	if err != nil {
		return err
	}
	if err := l.noteRewound(ctx); err != nil {
		return err
	}
	if len(merged.Conflicts) > 0 {
		return l.collided(ctx, merged)
	}
	landed.tree, landed.State = merged.Tree, l.sides.state
	commit := l.commitAhead(ctx, *landed)
	files := 0
	if landed.tree, err = l.withIgnored(ctx, merged.Tree); err == nil {
		files, err = l.changed(ctx, l.tip, landed.tree)
	}
	ahead, aheadErr := commit()
	if landed.Nothing = files == 0; err != nil || landed.Nothing {
		return errors.Join(err, l.lostOnly())
	}
	l.noteLost()
	if ahead != nil && ahead.tree == landed.tree {
		*landed, err = *ahead, aheadErr
	} else {
		err = l.commit(ctx, landed)
	}
	landed.Files = files
	return err
}

// commitAhead makes the commit of a merged tree while its changed files are counted; the tree that
// lands may turn out to be another one. It returns a function that waits for the commit. The
// function returns nil where making the commit would ask the user, or takes several commits.
func (l *landing) commitAhead(ctx context.Context, landed Landed) (wait func() (*Landed, error)) {
	if signs, err := l.signs(); err != nil || signs || l.options.Edit != nil || l.options.As != Squash {
		return func() (*Landed, error) { return nil, nil }
	}
	made := make(chan error, 1)
	go func() { made <- l.commit(ctx, &landed) }()
	return func() (*Landed, error) { return &landed, <-made }
}

// commit makes the commits of a landing, in the form that the user chose.
func (l *landing) commit(ctx context.Context, landed *Landed) error {
	facts, own, err := l.lookAtWork(ctx)
	if err != nil {
		return err
	}
	landed.Turns, landed.Title, landed.Commits = ranges(facts.Turns), facts.title(), 1
	facts.Listed = l.options.As == Squash
	parents := []string{l.tip}
	switch l.options.As {
	case Squash:
	case Commits:
		tips, err := l.replay(ctx, own)
		if err != nil {
			return err
		}
		last := len(tips) - 1
		if tree, err := l.Repo.Objects().TreeOf(ctx, tips[last]); err != nil || tree == landed.tree {
			landed.Commits, landed.After = last, tips[last]
			return cmp.Or(err, l.messageUsed())
		}
		landed.Commits, parents = last+1, tips[last:]
		facts.Commits = nil
	case Merge:
		if l.sides.h != nil && l.sides.h.hasLeft(l.source.head) {
			return errs.New(errs.Refused, "%s: --as merge would bring commits that it got and that %s does not have", l.name(), l.branch).
				Hint("%s", l.squashLine())
		}
		side, err := l.side(ctx, facts)
		if err != nil {
			return err
		}
		parents = append(parents, side)
	}
	text, err := l.message(ctx, facts.message())
	if err != nil {
		return err
	}
	landed.Title = display.FirstLine(text)
	landed.After, err = l.make(ctx, objects.NewCommit{Tree: landed.tree, Parents: parents, Message: text})
	return err
}

// messageUsed refuses a message of the user's where --as commits makes no commit that would get it.
func (l *landing) messageUsed() error {
	if l.options.Message == "" && l.options.Edit == nil {
		return nil
	}
	return errs.New(errs.Usage, "%s: has committed all of its work, and with --as commits each commit keeps its message; nothing has landed", l.name()).
		Hint("%s", l.squashLine()).Hint("%s", l.line(func(o *Options) { o.Message, o.Edit = "", nil }))
}

// make makes a commit for the target, signed if the user signs commits.
func (l *landing) make(ctx context.Context, one objects.NewCommit) (commit string, err error) {
	if one.Sign, err = l.signs(); err != nil {
		return "", err
	}
	return l.Repo.Objects().Commit(ctx, one)
}

// replay makes the agent's commits again on top of a target. tips are the resulting commits,
// beginning with the target's tip. Commits whose changes the target has are left out.
func (l *landing) replay(ctx context.Context, own []objects.CommitInfo) (tips []string, err error) {
	tips = []string{l.tip}
	for _, one := range own {
		tip := tips[len(tips)-1]
		picked, err := l.pick(ctx, tip, one)
		if err != nil {
			return nil, err
		}
		if len(picked.Conflicts) > 0 {
			return nil, errs.New(errs.Conflict, "%s: its commit %s (%s) alone conflicts with %s: %s",
				l.name(), one.ID[:12], display.FirstLine(one.Message), l.branch, few(picked.Conflicts, namedPaths)).
				Hint("%s", l.squashLine())
		}
		if tree, err := l.Repo.Objects().TreeOf(ctx, tip); err != nil || tree == picked.Tree {
			if err != nil {
				return nil, err
			}
			continue
		}
		next, err := l.make(ctx, objects.NewCommit{Tree: picked.Tree, Parents: []string{tip}, Message: one.Message, Author: one.Author})
		if err != nil {
			return nil, err
		}
		tips = append(tips, next)
	}
	return tips, nil
}

// filesOf returns a line for each file that a commit changes in the target: with the size of the
// change if the user asks for sizes and git can tell them, else only the quoted name.
func (l *landing) filesOf(ctx context.Context, commit string) ([]string, error) {
	paths, err := l.Repo.Objects().ChangedPaths(ctx, l.tip, commit)
	if err != nil {
		return nil, err
	}
	if l.options.Sizes {
		var stat strings.Builder
		format := objects.DiffFormat{Stat: true, Color: l.options.Color}
		err := l.Repo.Objects().Diff(ctx, l.Record.WorktreePath, l.tip, commit, format, &stat)
		lines := strings.Split(strings.TrimRight(stat.String(), "\n"), "\n")
		if err == nil && len(lines) == len(paths)+1 { // the last line is the sum; a rename is one line for two paths
			for i := range lines {
				lines[i] = strings.TrimPrefix(lines[i], " ")
			}
			return lines[:len(paths)], nil
		}
	}
	for i := range paths {
		paths[i] = onOneLine(paths[i])
	}
	return paths, nil
}

// pick applies one commit of the agent to a commit of the target. The commit's parent may be no
// usable base, if changes it builds on landed without being committed; then the common base of both
// sides is used.
func (l *landing) pick(ctx context.Context, onto string, one objects.CommitInfo) (objects.Merged, error) {
	picked, err := l.Repo.Objects().PickTree(ctx, l.place(l.Repo), onto, one)
	if err != nil || len(picked.Conflicts) == 0 || l.sides.h == nil {
		return picked, err
	}
	base, err := l.asker.base(ctx, l.sides)
	if err != nil {
		return picked, err
	}
	if len(one.Parents) > 0 {
		tree, err := l.Repo.Objects().TreeWith(ctx, one.Parents[0], base, picked.Conflicts)
		if err != nil {
			return picked, err
		}
		if base, err = l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: tree, Own: true}); err != nil {
			return picked, err
		}
	}
	return l.Repo.Objects().MergeTrees(ctx, l.place(l.Repo), base, onto, one.ID)
}

// side returns the second parent of a merge: the agent's branch, with a commit for what is not
// committed.
func (l *landing) side(ctx context.Context, facts messageFacts) (string, error) {
	if l.source.state == l.source.head {
		return l.source.head, nil
	}
	tree, err := l.Repo.Objects().TreeOf(ctx, l.source.state)
	if err != nil {
		return "", err
	}
	facts.Asked, facts.Commits = "", nil
	return l.make(ctx, objects.NewCommit{Tree: tree, Parents: []string{l.source.head}, Message: facts.message()})
}

// withIgnored returns a tree that keeps files of the branch which only look deleted: the agent
// landed them without ever committing them, still has them in its worktree, and ignores them now.
func (l *landing) withIgnored(ctx context.Context, tree string) (string, error) {
	near := l.sides.near
	if near == nil || l.Session.Host != "" {
		return tree, nil
	}
	paths, err := l.Repo.Objects().DeletedPaths(ctx, l.tip, tree)
	if err != nil {
		return "", err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(filepath.Join(l.Record.WorktreePath, filepath.FromSlash(path)))
		return err != nil
	})
	if len(paths) == 0 { // without asking git
		return tree, nil
	}
	files, err := l.Repo.Objects().IgnoredFiles(ctx, l.Record.WorktreePath)
	if err != nil {
		return "", err
	}
	head, err := l.Repo.Objects().SnapshotHead(ctx, near.State)
	if err != nil {
		return "", err
	}
	uncommitted, err := l.Repo.Objects().DeletedPaths(ctx, near.State, head)
	if err != nil {
		return "", err
	}
	var ignored []string
	for _, path := range paths {
		if !files[path] || !slices.Contains(uncommitted, path) { // a folder, behind a symlink, or not ignored; or committed once
			continue
		}
		touched, err := l.Repo.Objects().LastTouch(ctx, head, l.source.head, path)
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
	l.App.Notef("%s: ignores %s now; %s keeps it", l.name(), few(ignored, namedPaths), l.branch)
	return l.Repo.Objects().TreeWith(ctx, tree, l.tip, ignored)
}

// notComposed adds hints to an error of git while the commits were made.
func (l *landing) notComposed(err error) error {
	switch {
	case errors.Is(err, objects.ErrUnrelated) && l.Session.Host != "":
		return notAClone(l.name(), l.branch)
	case errors.Is(err, objects.ErrUnrelated):
		return errs.New(errs.Refused, "%s: its branch %s has no commit in common with %s", l.name(), l.Record.Branch, l.branch).
			Hint("%s", gitLine(l.branch, l.checkout, "merge --allow-unrelated-histories", l.source.state))
	case errors.Is(err, objects.ErrNotSigned):
		return errs.WithHints(err, `git config --show-origin --get-regexp "^(user.signingkey|commit.gpgsign|gpg[.])"`)
	case errors.Is(err, objects.ErrNoIdentity) && l.options.As == Commits: // the author in one of the agent's commits, or the user, has no name
		return errs.WithHints(err, l.squashLine(), "git config user.name")
	case errors.Is(err, objects.ErrNoIdentity):
		return errs.WithHints(err, `git config user.name "YOUR NAME" && git config user.email you@example.com`)
	}
	return err
}

// notMoved returns a better error for a landing that moves a submodule: paw cannot do that in the
// user's checkout, git merge can.
func (l *landing) notMoved(err error) error {
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
		Hint("git -C %s merge %s", errs.Quote(l.checkout.Path), l.source.state)
}

// collided returns the error for a merge with conflicts. The hints are the two ways to go on.
func (l *landing) collided(ctx context.Context, merged objects.Merged) error {
	base := ""
	if natural, err := l.Repo.Objects().MergeBases(ctx, l.source.state, l.tip); err != nil {
		return err
	} else if len(natural) > 0 {
		base = natural[0]
	}
	e := &CollisionError{}
	for i, path := range merged.Conflicts {
		one := Collision{Path: path, Beside: slices.Contains(merged.Beside, path)}
		if base != "" && i < askedPaths {
			touched, err := l.Repo.Objects().LastTouch(ctx, base, l.tip, path)
			if err != nil {
				return err
			}
			one.With = whose(touched)
		}
		e.Files = append(e.Files, one)
	}
	e.offer = true
	e.error = errs.New(errs.Conflict, "%s: conflicts with %s, nothing has moved: %s", l.name(), l.branch, few(e.Files, namedPaths)).
		Hint("%s", l.conflictLine(l.branch))
	return l.hintAgain(ctx, e)
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
