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
func (c *composer) lost() []lostWork {
	if c.options.Again {
		return nil
	}
	return c.sides.lost
}

// hintAgain adds to a conflict the command that also lands the lost work, if that is in the same
// files.
func (c *composer) hintAgain(ctx context.Context, e *CollisionError) error {
	for _, one := range c.lost() {
		paths, err := c.Repo.Objects().ChangedPaths(ctx, one.Before, one.After)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(e.Files, func(f Collision) bool { return slices.Contains(paths, f.Path) }) {
			e.error = errs.WithHints(e.error, c.againLine())
			return e
		}
	}
	return e
}

// lostOnly returns an error if there is nothing to land but lost work.
func (c *composer) lostOnly(t target) error {
	lost := c.lost()
	if len(lost) == 0 {
		return nil
	}
	return errs.New(errs.Refused, "%s: nothing new to land; %s", c.name(), c.lostWords(t.branch, lost)).Hint("%s", c.againLine())
}

// noteLost notes lost work that does not land with the rest.
func (c *composer) noteLost(t target) {
	if lost := c.lost(); len(lost) > 0 {
		c.App.Notef("%s: %s; %s brings it again", c.name(), c.lostWords(t.branch, lost), c.againLine())
	}
}

// noteRewound notes landed work that the agent was rewound from: a rewind takes nothing off a
// branch, and work that an update brought back is not the agent's own. It notes nothing if the
// target has the same files as the agent.
func (c *composer) noteRewound(ctx context.Context, t target) error {
	if c.source.turn > 0 || len(c.sides.rewound) == 0 {
		return nil
	}
	if differ, err := c.changed(ctx, t.tip, c.source.state); err != nil || differ == 0 {
		return err
	}
	for _, one := range c.sides.rewound {
		if one.keeps() {
			if has, err := c.hasFilesOf(ctx, one); err != nil {
				return err
			} else if !has {
				c.App.Notef("%s: was rewound from what landing %d brought; %s keeps that until %s", c.name(), one.ID, t.branch, undoLine(one, t.checkout))
			}
			continue
		}
		line := c.line(func(o *Options) { o.Turn, o.Again = strconv.Itoa(one.LastTurn), one.Standing == Reverted })
		c.App.Notef("%s: was rewound from what landing %d brought, and %s has lost that; %s brings it again", c.name(), one.ID, t.branch, line)
	}
	return nil
}

// hasFilesOf reports whether the state has the files that a landing changed as it left them, as
// where the landing brought work of an earlier turn again.
func (c *composer) hasFilesOf(ctx context.Context, one *Stand) (bool, error) {
	brought, err := c.Repo.Objects().ChangedPaths(ctx, one.Before, one.After)
	if err != nil {
		return false, err
	}
	differ, err := c.Repo.Objects().ChangedPaths(ctx, one.After, c.source.state)
	return err == nil && !slices.ContainsFunc(brought, func(path string) bool { return slices.Contains(differ, path) }), err
}

func (c *composer) againLine() string {
	return c.line(func(o *Options) { o.Again = true })
}

// lostWords says which landings a branch has lost, and how.
func (c *composer) lostWords(branch string, lost []lostWork) string {
	var each []string
	for _, one := range lost {
		words := landingWords(one.Stand)
		if one.TurnSession != c.Record.TurnSession {
			words += " of " + one.Agent
		}
		if one.Revert != "" {
			words += fmt.Sprintf(" (git revert %.10s)", one.Revert)
		}
		each = append(each, words)
	}
	return fmt.Sprintf("%s had %s and has lost it again", branch, strings.Join(each, ", "))
}

// leftOut returns the agent's last turn if the turn's work is neither in the worktree nor in the
// target, as after the worktree was deleted and made again; 0 for none.
func (c *composer) leftOut(ctx context.Context, t target) (int, error) {
	last := c.source.lastEnd()
	at := slices.IndexFunc(c.source.turns, func(one turns.Turn) bool { return one.Number == last })
	if c.source.turn > 0 || at < 0 {
		return 0, nil
	}
	src := *c.source
	src.state, src.turn, src.turns = src.turns[at].After, last, src.turns[:at+1]
	if files, err := c.changed(ctx, c.source.state, src.state); err != nil || files == 0 {
		return 0, err
	}
	then := *c
	then.source, then.options.Again, then.asker = &src, false, nil
	if err := then.lookAtBoth(ctx, t); err != nil {
		return 0, err
	}
	merged, err := c.Repo.Objects().MergeTree(ctx, t.place(c.Repo), then.sides.ours, then.sides.theirs)
	if err != nil || len(merged.Conflicts) > 0 {
		return last, err
	}
	if files, err := c.changed(ctx, t.tip, merged.Tree); err != nil || files == 0 {
		return 0, err
	}
	return last, nil
}
