package landing

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
)

// lost returns the lost work that does not land, because the user has not asked for it.
func (l *landing) lost() []lostWork {
	if l.options.Again {
		return nil
	}
	return l.sides.lost
}

// hintAgain adds to a conflict the command that also lands the lost work, if that is in the same
// files.
func (l *landing) hintAgain(ctx context.Context, e *CollisionError) error {
	for _, one := range l.lost() {
		paths, err := l.Repo.Objects().ChangedPaths(ctx, one.Before, one.After)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(e.Files, func(f Collision) bool { return slices.Contains(paths, f.Path) }) {
			e.error = errs.WithHints(e.error, l.againLine())
			return e
		}
	}
	return e
}

// lostOnly returns an error if there is nothing to land but lost work.
func (l *landing) lostOnly() error {
	lost := l.lost()
	if len(lost) == 0 {
		return nil
	}
	return errs.New(errs.Refused, "%s: nothing new to land; %s", l.name(), l.lostWords(lost)).Hint("%s", l.againLine())
}

// noteLost notes lost work that does not land with the rest.
func (l *landing) noteLost() {
	if lost := l.lost(); len(lost) > 0 {
		l.App.Notef("%s: %s; %s brings it again", l.name(), l.lostWords(lost), l.againLine())
	}
}

// noteRewound notes landed work that the agent was rewound from: a rewind takes nothing off a
// branch, and work that an update brought back is not the agent's own. It notes nothing if the
// target has the same files as the agent.
func (l *landing) noteRewound(ctx context.Context) error {
	if l.source.turn > 0 || len(l.sides.rewound) == 0 {
		return nil
	}
	if differ, err := l.changed(ctx, l.tip, l.source.state); err != nil || differ == 0 {
		return err
	}
	for _, one := range l.sides.rewound {
		if one.keeps() {
			if has, err := l.hasFilesOf(ctx, one); err != nil {
				return err
			} else if !has {
				l.App.Notef("%s: was rewound from what landing %d brought; %s keeps that until %s", l.name(), one.ID, l.branch, undoLine(one, l.checkout))
			}
			continue
		}
		line := l.line(func(o *Options) { o.Turn, o.Again = strconv.Itoa(one.LastTurn), one.Standing == Reverted })
		l.App.Notef("%s: was rewound from what landing %d brought, and %s has lost that; %s brings it again", l.name(), one.ID, l.branch, line)
	}
	return nil
}

// hasFilesOf reports whether the state has the files that a landing changed as it left them, as
// where the landing brought work of an earlier turn again.
func (l *landing) hasFilesOf(ctx context.Context, one *Stand) (bool, error) {
	brought, err := l.Repo.Objects().ChangedPaths(ctx, one.Before, one.After)
	if err != nil {
		return false, err
	}
	differ, err := l.Repo.Objects().ChangedPaths(ctx, one.After, l.source.state)
	return err == nil && !slices.ContainsFunc(brought, func(path string) bool { return slices.Contains(differ, path) }), err
}

func (l *landing) againLine() string {
	return l.line(func(o *Options) { o.Again = true })
}

// lostWords says which landings the branch has lost, and how.
func (l *landing) lostWords(lost []lostWork) string {
	var each []string
	for _, one := range lost {
		words := landingWords(one.Stand)
		if one.TurnSession != l.Record.TurnSession {
			words += " of " + one.Agent
		}
		if one.Revert != "" {
			words += fmt.Sprintf(" (git revert %.10s)", one.Revert)
		}
		each = append(each, words)
	}
	return fmt.Sprintf("%s had %s and has lost it again", l.branch, strings.Join(each, ", "))
}

// leftOut returns the agent's last turn if the turn's work is neither in the worktree nor in the
// target, as after the worktree was deleted and made again; 0 for none.
func (l *landing) leftOut(ctx context.Context) (int, error) {
	last := l.source.lastEnd()
	at := slices.IndexFunc(l.source.turns, func(one turns.Turn) bool { return one.Number == last })
	if l.source.turn > 0 || at < 0 {
		return 0, nil
	}
	src := *l.source
	src.state, src.head, src.turn, src.turns = src.turns[at].After, "", last, src.turns[:at+1]
	if files, err := l.changed(ctx, l.source.state, src.state); err != nil || files == 0 {
		return 0, err
	}
	then := *l
	then.source, then.options.Again, then.asker = &src, false, nil
	if err := then.lookAtBoth(ctx); err != nil {
		return 0, err
	}
	merged, err := l.Repo.Objects().MergeTree(ctx, l.place(l.Repo), then.sides.ours, then.sides.theirs)
	if err != nil || len(merged.Conflicts) > 0 {
		return last, err
	}
	if files, err := l.changed(ctx, l.tip, merged.Tree); err != nil || files == 0 {
		return 0, err
	}
	return last, nil
}
