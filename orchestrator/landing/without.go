package landing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree/objects"
	"paw/worktree/states"
)

// takeOut composes, in place of a landing, a commit that takes one turn out of the branch: what leads from the state at the end
// of the turn back to that without the turn is merged. The history of the branch keeps the turn, so the next landing does not bring
// it back. The error is a *CollisionError where something builds on it.
func (l *landing) takeOut(ctx context.Context, landed *Landed) error {
	landed.Landing = session.Landing{
		Agent: l.Record.Name, TurnSession: l.Record.TurnSession, Target: l.branch, Before: l.tip, As: string(Squash), Without: l.source.Turn,
	}
	has, err := l.landsOn(ctx, l.target, l.source.Twin, false)
	if err != nil {
		return err
	}
	if !has.Nothing {
		return errs.New(errs.NotFound, "%s: turn %d has not landed in %s", l.name(), l.source.Turn, l.branch).
			Hint("paw land --list%s", l.App.Place().Of(l.Session.Name))
	}
	without, err := l.stateWithout(ctx)
	if err != nil {
		return err
	}
	merged, err := l.Repo.Objects().MergeTrees(ctx, l.place(l.Repo), l.source.Twin, l.tip, without)
	if err != nil {
		return err
	}
	if len(merged.Conflicts) > 0 {
		return l.builtOn(ctx, merged, without)
	}
	landed.tree = merged.Tree
	if landed.Files, err = l.changed(ctx, l.tip, landed.tree); landed.Files == 0 || err != nil {
		landed.Nothing = true
		return err
	}
	text, err := l.message(ctx, l.withoutMessage())
	if err != nil {
		return err
	}
	landed.Title, landed.Commits = display.FirstLine(text), 1
	landed.After, err = l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: landed.tree, Parents: []string{l.tip}, Message: text, In: l.at()})
	return err
}

// stateWithout returns the files of the state at the end of the turn without the turn's work. What the turn has got of others stays.
func (l *landing) stateWithout(ctx context.Context) (tree string, err error) {
	led, err := l.Repo.States().Ahead(ctx, l.begin(), l.source.Twin)
	if err != nil {
		return "", err
	}
	steps := slices.DeleteFunc(led[0].Steps, func(step states.Step) bool {
		at, ok := turns.MomentOf(step.Subject)
		return !ok || at.TurnSession != l.Record.TurnSession || at.Between || at.First != l.source.Turn || at.Turn != l.source.Turn
	})
	tree = l.source.Twin
	for _, step := range slices.Backward(inOne(steps)) {
		merged, err := l.Repo.Objects().MergeTrees(ctx, l.place(l.Repo), step.To, tree, step.From)
		if err != nil {
			return "", err
		}
		if tree = merged.Tree; len(merged.Conflicts) > 0 {
			return "", errs.New(errs.Refused, "%s: turn %d has itself built on its work what it got of others: %s", l.name(), l.source.Turn, few(merged.Conflicts, namedPaths)).
				Hint("paw diff %s %d", l.name(), l.source.Turn)
		}
	}
	return tree, nil
}

// withoutMessage returns the message of the commit that takes the turn out: the user's own, else `Revert "..."` as git revert writes it, with
// the first line of the turn's prompt in place of a commit's subject.
func (l *landing) withoutMessage() string {
	one := l.source.Turns[len(l.source.Turns)-1]
	words := cmp.Or(display.Graphemes.Cut(display.Title(one.Task()), display.TitleWidth), fmt.Sprintf("turn %d of %s", one.Number, l.name()))
	return fmt.Sprintf("%s\n\nPaw-Without: %s@%d\n", cmp.Or(strings.TrimSpace(l.options.Message), `Revert "`+words+`"`), l.name(), one.Number)
}

// builtOn returns the error for a turn that does not come out alone, with the turn, or the commit, that changed each of the files
// last. The first hint takes such a turn out, the last one leaves the conflict to the user.
func (l *landing) builtOn(ctx context.Context, merged objects.Merged, without string) error {
	e, first := &CollisionError{}, ""
	for i, path := range merged.Conflicts {
		one := Collision{Path: path, Beside: slices.Contains(merged.Beside, path)}
		if i < askedPaths {
			with, by, err := l.lastTurn(ctx, path)
			if err != nil {
				return err
			}
			one.With, first = with, cmp.Or(first, by)
		}
		e.Files = append(e.Files, one)
	}
	refused := errs.New(errs.Conflict, "%s: turn %d does not come out of %s alone, nothing has moved: %s", l.name(), l.source.Turn, l.branch, few(e.Files, namedPaths))
	if first != "" {
		refused = refused.Hint("%s", l.Line("land", first))
	}
	if e.error = refused; l.options.DryRun { // its commit is not kept
		e.error = refused.Hint("%s", l.line(app.Without("dry-run")))
		return e
	}
	back, err := l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: without, Parents: []string{l.source.State}, Message: l.withoutMessage()})
	e.error = refused.Hint("%s", gitLine(l.branch, l.checkout, "cherry-pick", back))
	return cmp.Or(err, error(e))
}

// lastTurn says who changed a path last after the turn. In the history with the grafts it is a twin, whose name says the turn.
func (l *landing) lastTurn(ctx context.Context, path string) (with, by string, err error) {
	sessions, err := l.siblings()
	if err != nil {
		return "", "", err
	}
	touched, err := l.Repo.States().Objects().LastTouch(ctx, l.source.Twin, l.tip, path)
	if touched == nil || err != nil {
		return "", "", err
	}
	at, ok := turns.MomentOf(touched.Title)
	for _, s := range sessions {
		for _, w := range s.Agents {
			if ok && !at.Between && w.TurnSession == at.TurnSession {
				by = fmt.Sprintf("%s/%s@%d", s.Name, w.Name, at.Turn)
			}
		}
	}
	if by == "" {
		touched, err = l.Repo.Objects().LastTouch(ctx, l.source.State, l.tip, path)
	}
	return cmp.Or(by, whose(touched)), by, err
}
