package landing

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
	"paw/worktree/objects"
)

// merge merges the agent's state with the target, and completes landed with the commits of the
// landing, whose objects it makes. It sets Nothing if the target has all of the state. The error is
// a *CollisionError on conflicts.
func (l *landing) merge(ctx context.Context, landed *Landed) (err error) {
	if l.lands, err = l.landsNow(ctx, l.target, l.source.Twin, l.options.Again); err != nil {
		return err
	}
	if err := l.noteRewound(ctx); err != nil {
		return err
	}
	if len(l.lands.Conflicts) > 0 {
		return l.collided(ctx, l.lands.Merged)
	}
	if landed.Nothing = l.lands.Nothing; landed.Nothing {
		if l.options.Again {
			return nil
		}
		gone, err := l.lostOf(ctx, l.target, l.lands.known(), l.lands.State)
		if lacks := l.lacks(gone.paths); lacks != "" && err == nil {
			return &skippedError{errs.New(errs.Refused, "%s: nothing new to land; %s", l.name(), lacks).Hint("%s", l.line(app.With("again")))}
		}
		return err
	}
	if err := l.refuseForeign(ctx); err != nil {
		return err
	}
	if l.options.As != Squash {
		if _, err := l.refuseClaims(ctx, l.target, l.source, "not landed", l.line(squashed)); err != nil {
			return err
		}
	}
	if err := l.noteLost(ctx); err != nil {
		return err
	}
	if len(l.lands.kept) > 0 {
		l.App.Notef("%s: ignores %s now; %s keeps it", l.name(), few(l.lands.kept, namedPaths), l.branch)
	}
	landed.tree, landed.Again = l.lands.Tree, l.lands.Onto != ""
	if err := l.refuseLeavings(ctx, landed.tree); err != nil {
		return err
	}
	if landed.Files, err = l.changed(ctx, l.tip, landed.tree); err != nil {
		return err
	}
	return l.commit(ctx, landed)
}

// refuseLeavings refuses a landing of nothing but files that CLIs write into worktrees by themselves, unless they are committed.
func (l *landing) refuseLeavings(ctx context.Context, tree string) error {
	var leaves []string
	for _, name := range l.App.CLIs.Names() {
		c, _ := l.App.CLIs.Get(name)
		leaves = append(leaves, c.Facts().Leaves...)
	}
	paths, err := l.Repo.Objects().ChangedPaths(ctx, l.tip, tree)
	if err != nil || l.Session.Host != "" || slices.ContainsFunc(paths, func(path string) bool { return !slices.Contains(leaves, path) }) {
		return err
	}
	uncommitted, err := l.Repo.Objects().ChangedPaths(ctx, l.source.Head, l.source.State)
	if err != nil || slices.ContainsFunc(paths, func(path string) bool { return !slices.Contains(uncommitted, path) }) {
		return err
	}
	refused := errs.New(errs.Refused, "%s: has only %s, which its CLI leaves on its own", l.name(), strings.Join(paths, ", "))
	for _, outside := range turns.OutsideOf(ctx, l.Agent) {
		refused.Message += "; " + outside.Text
		if outside.Line != "" {
			refused.Hints = append(refused.Hints, outside.Line)
		}
	}
	return refused.Hint("paw diff %s", l.name())
}

// refuseAhead refuses what a target would make of commits that the remote's branch has and the target
// has not.
func (w work) refuseAhead(ctx context.Context, t target, l *lands) error {
	if len(l.Gone) == 0 {
		return nil
	}
	tips, err := turns.Tips(ctx, w.Repo, t.branch)
	if err != nil {
		return err
	}
	own, err := turns.OwnPastTips(ctx, w.Repo, t.branch)
	if err != nil {
		return err
	}
	there, err := w.Repo.States().In(ctx, l.Gone, tips[1:]...)
	if err != nil {
		return err
	}
	had, err := w.Repo.States().In(ctx, l.Gone, own...) // what the branch itself once had, the user has taken out of it
	if err != nil {
		return err
	}
	pull := "pull --no-rebase"
	for _, tip := range tips[1:] {
		if forward, err := w.Repo.Objects().Contains(ctx, tip, t.tip); forward && err == nil {
			pull = "pull --ff-only"
		}
	}
	for _, left := range l.Gone {
		if there[left] && !had[left] {
			return errs.New(errs.Refused, "%s: has commits of the remote's %s that %s does not have, such as %.12s", w.name(), t.branch, t.branch, left).
				Hint("%s", gitLine(t.branch, t.checkout, pull))
		}
	}
	return nil
}

// refuseForeign refuses a landing that would change files that no turn of the agent, and no hand in its
// worktree, has changed.
func (l *landing) refuseForeign(ctx context.Context) error {
	if err := l.refuseAhead(ctx, l.target, l.lands); err != nil {
		return err
	}
	also := map[string]bool{}
	if l.lands.Onto != "" {
		paths, err := l.Repo.Objects().ChangedPaths(ctx, l.tip, l.lands.Onto)
		if err != nil {
			return err
		}
		for _, path := range paths {
			also[path] = true
		}
	}
	foreign, err := l.Repo.States().Foreign(ctx, l.lands.Lands, l.lands.Tree, also)
	if err != nil || len(foreign) == 0 {
		return err
	}
	return errs.New(errs.Refused, "%s: would change what neither its turns nor you in its worktree have changed: %s", l.name(), few(foreign, namedPaths)).
		Hint("paw update %s", l.name())
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
		format := objects.DiffFormat{Form: "stat", Color: l.options.Color}
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

// notComposed adds hints to an error of git while the commits were made.
func (l *landing) notComposed(err error) error {
	switch {
	case errors.Is(err, objects.ErrUnrelated) && l.Session.Host != "":
		return notAClone(l.name(), l.branch)
	case errors.Is(err, objects.ErrUnrelated):
		return errs.New(errs.Refused, "%s: its branch %s has no commit in common with %s", l.name(), l.Record.Branch, l.branch).
			Hint("%s", gitLine(l.branch, l.checkout, "merge --allow-unrelated-histories", l.source.State))
	case errors.Is(err, objects.ErrNotSigned):
		return errs.WithHints(err, `git config --show-origin --get-regexp "^(user.signingkey|commit.gpgsign|gpg[.])"`)
	case errors.Is(err, objects.ErrNoIdentity) && l.options.As == Commits: // the author in one of the agent's commits, or the user, has no name
		return errs.WithHints(err, l.line(squashed), "git config user.name")
	case errors.Is(err, objects.ErrNoIdentity):
		return errs.WithHints(err, `git config user.name "YOUR NAME" && git config user.email you@example.com`)
	}
	return err
}

// notAClone returns the error for work of another machine without a common commit with the branch.
func notAClone(name, branch string) error {
	host, _, _ := strings.Cut(name, ":")
	return errs.New(errs.Refused, "%s: no common commit with %s: is it a clone of this repository?", name, branch).Hint("paw host doctor %s", host)
}

// notMoved returns a better error for a landing that moves a submodule: paw cannot do that in the
// user's checkout, git merge can.
func (l *landing) notMoved(landed *Landed, err error) error {
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
	refused := errs.New(errs.Refused, "%s: not touched, the landing would add, remove or move a submodule: %s", obstacles.Path, few(submodules, namedObstacles))
	if l.options.DryRun { // its commit is not kept
		return refused.Hint("%s", l.line())
	}
	return refused.Hint("git -C %s merge --ff-only %s", errs.Quote(l.checkout.Path), landed.After)
}

// compose looks at agent and target, and makes the commits of the landing. Only the look for
// obstacles and the move are left after that.
func (l *landing) compose(ctx context.Context) (landed *Landed, err error) {
	if err := l.look(ctx); err != nil {
		return nil, err
	}
	landed = &Landed{Session: l.Session.Name, Landing: session.Landing{
		Agent: l.Record.Name, TurnSession: l.Record.TurnSession, Target: l.branch, Before: l.tip, Turn: l.source.Turn,
		State: l.source.State, Twin: l.source.Twin, LastTurn: l.source.lastTurn(), As: string(l.options.As),
	}}
	merge := l.merge
	if l.options.Without {
		merge = l.takeOut
	}
	if err := merge(ctx, landed); err != nil {
		return nil, l.notComposed(err)
	}
	if landed.Nothing {
		landed.LeftOut, err = l.leftOut(ctx)
		landed.Brings = l.lineAt(strconv.Itoa(landed.LeftOut))
		return landed, err
	}
	if landed.Checks = l.checker.Commands; !l.options.Without {
		landed.BadEnd = l.source.badEnd(ctx, l.work)
	}
	if l.checkout != nil {
		landed.Checkout = l.checkout.Path
		if handed := l.Record.Handed(); handed != "" && !l.options.Without {
			if landed.Handed, err = l.Repo.Moves().HandedFiles(ctx, *l.checkout, l.tip, landed.After, handed); err != nil {
				return nil, err
			}
		}
	}
	if l.options.DryRun {
		landed.Listed, err = l.filesOf(ctx, landed.After)
	}
	return landed, err
}

// leftOut returns the agent's last turn if the turn's work is neither in the worktree nor in the
// target, as after the worktree was deleted and made again; 0 for none.
func (l *landing) leftOut(ctx context.Context) (int, error) {
	last := l.source.lastEnd()
	if l.source.Turn > 0 || last == 0 || l.source.chain == nil || l.source.chain.End(last) == "" {
		return 0, nil
	}
	then, err := l.landsOn(ctx, l.target, l.source.chain.End(last), false)
	if err != nil || then.Nothing {
		return 0, err
	}
	return last, nil
}

// look looks at the target and, the first time, takes the agent's state. The two run at the same
// time, because each starts several git processes. The caller keeps other landings away.
func (l *landing) look(ctx context.Context) (err error) {
	if l.source != nil {
		l.target, err = l.lookAtTarget(ctx, l.branch)
		return err
	}
	src, err := l.sourceOf(ctx)
	if err != nil {
		return &skippedError{err}
	}
	if l.records, err = l.allRecords(); err != nil {
		return err
	}
	var targetErr error
	var beside sync.WaitGroup
	beside.Go(func() { l.target, targetErr = l.lookAtTarget(ctx, l.branch) })
	err = src.take(ctx, l.work)
	beside.Wait()
	if err != nil {
		return &skippedError{err}
	}
	if src.Turn > 0 { // of another machine's agent, that machine has chosen the turn
		l.turn = strconv.Itoa(src.Turn)
	}
	if err := l.asShown(ctx, src); err != nil {
		return err
	}
	l.source = src
	return targetErr
}

// asShown refuses a state that differs from the one the user was shown.
func (l *landing) asShown(ctx context.Context, now *source) error {
	if l.options.State == "" {
		return nil
	}
	if same, err := l.Repo.Objects().SameTree(ctx, l.options.State, now.State); same || err != nil {
		return err
	}
	return errs.New(errs.Refused, "%s: has changed since it was shown, nothing has landed", l.Record.Name).
		Hint("%s", l.line(app.With("dry-run")))
}

// prepare composes a landing, and refuses one that could not be carried out.
func (l *landing) prepare(ctx context.Context) (*Landed, error) {
	landed, err := l.compose(ctx)
	if err != nil || landed.Nothing {
		return landed, err
	}
	return landed, l.unobstructed(ctx, landed)
}

// unobstructed refuses a landing that would overwrite something in the target's checkout.
func (l *landing) unobstructed(ctx context.Context, landed *Landed) error {
	if l.checkout == nil {
		return nil
	}
	return l.notMoved(landed, unobstructed(ctx, l.Repo, l.checkout, l.tip, landed.After, landed.Handed))
}
