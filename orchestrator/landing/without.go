package landing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/objects"
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
	steps, err := l.Repo.States().Within(ctx, l.source.Twin, func(subject string) bool {
		at, ok := turns.MomentOf(subject)
		return ok && at.TurnSession == l.Record.TurnSession && !at.Between && at.First == l.source.Turn && at.Turn == l.source.Turn
	})
	tree = l.source.Twin
	for _, step := range slices.Backward(inOne(steps)) {
		if err != nil {
			return "", err
		}
		var merged objects.Merged
		merged, err = l.Repo.Objects().MergeTrees(ctx, l.place(l.Repo), step.To, tree, step.From)
		if tree = merged.Tree; err == nil && len(merged.Conflicts) > 0 {
			err = errs.New(errs.Refused, "%s: turn %d has itself built on its work what it got of others: %s", l.name(), l.source.Turn, few(merged.Conflicts, namedPaths)).
				Hint("paw diff %s %d", l.name(), l.source.Turn)
		}
	}
	return tree, err
}

// withoutMessage drafts the message: the user's, else that of git revert with the turn's prompt.
func (l *landing) withoutMessage() string {
	one := l.source.Turns[len(l.source.Turns)-1]
	words := cmp.Or(display.Graphemes.Cut(display.Title(one.Task()), display.TitleWidth), fmt.Sprintf("turn %d of %s", one.Number, l.name()))
	return fmt.Sprintf("%s\n\nPaw-Without: %s@%d\n", cmp.Or(strings.TrimSpace(l.options.Message), `Revert "`+words+`"`), l.name(), one.Number)
}

// builtOn returns the error for a turn that does not come out alone: it names the agent's later turns that have changed the same
// files, else whoever changed them last. The first hint takes such a turn out, the last one leaves the conflict to the user.
func (l *landing) builtOn(ctx context.Context, merged objects.Merged, without string) error {
	later, err := l.laterTurns(ctx, merged.Conflicts)
	if err != nil {
		return err
	}
	e, newest := &CollisionError{}, 0
	for i, path := range merged.Conflicts {
		one := Collision{Path: path, Beside: slices.Contains(merged.Beside, path)}
		if last := later[path]; last > 0 {
			newest, one.With = max(newest, last), fmt.Sprintf("%s@%d", l.name(), last)
		} else if i < askedPaths {
			touched, err := l.Repo.Objects().LastTouch(ctx, l.source.State, l.tip, path)
			if err != nil {
				return err
			}
			one.With = whose(touched)
		}
		e.Files = append(e.Files, one)
	}
	refused := errs.New(errs.Conflict, "%s: turn %d does not come out of %s alone, nothing has moved: %s", l.name(), l.source.Turn, l.branch, few(e.Files, namedPaths))
	if newest > 0 {
		refused = refused.Hint("%s", l.lineAt(strconv.Itoa(newest)))
	}
	if e.error = refused; l.options.DryRun { // its commit is not kept
		e.error = refused.Hint("%s", l.line(app.Without("dry-run")))
		return e
	}
	back, err := l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: without, Parents: []string{l.source.State}, Message: l.withoutMessage()})
	e.error = refused.Hint("%s", gitLine(l.branch, l.checkout, "cherry-pick", back))
	return cmp.Or(err, error(e))
}

// laterTurns returns the newest later turn of the agent that the branch has and that has changed a path, by path.
func (l *landing) laterTurns(ctx context.Context, paths []string) (last map[string]int, err error) {
	list, _, err := turns.List(ctx, l.Agent)
	if err != nil {
		return nil, err
	}
	in, err := l.Repo.Refs().List(ctx, turn.StatePrefix(l.Record.TurnSession))
	last = map[string]int{}
	for _, t := range list.Turns {
		twin := in[turn.StateRef(l.Record.TurnSession, t.Number)]
		if err != nil || t.Number <= l.source.Turn || t.Before == "" || t.After == "" || twin == "" {
			continue
		}
		var has bool
		if has, err = l.Repo.States().Objects().Contains(ctx, l.tip, twin); !has || err != nil {
			continue
		}
		var changed []string
		changed, err = l.Repo.Objects().ChangedPaths(ctx, t.Before, t.After)
		for _, path := range changed {
			if slices.Contains(paths, path) {
				last[path] = t.Number
			}
		}
	}
	return last, err
}
