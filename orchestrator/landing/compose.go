package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/worktree"
)

// composed is a landing whose objects exist, but that has not moved anything.
type composed struct {
	tree    string
	commit  string // commit that the target moves to
	state   string // commit of the state that lands, with the states that landed before among its ancestors
	files   int
	commits int // number of commits that the target gets
	title   string
	brought []turns.Turn
}

// composer makes the commits of one landing.
type composer struct {
	work
	source  *source
	as      As
	asked   string // message from the user, "" for none
	again   bool   // also land what the target had and has lost
	message func(draft string) (string, error)
	version func(made []turns.Turn) string // version of the CLI; nil if no message needs it
	signs   func() (bool, error)           // whether the user signs commits; asked while git merges

	asker *asker
	sides *sides
}

// lookAtBoth finds what the state and the target have in common.
func (c *composer) lookAtBoth(ctx context.Context, t target) (err error) {
	c.agent.TurnHighWater = max(c.agent.TurnHighWater, c.source.lastTurn()) // the turn log is written before the record
	if c.asker, err = c.askerFor(ctx, t, c.again); err != nil {
		return err
	}
	at := c.asker.point(c.source.turn)
	c.sides, err = c.asker.sides(ctx, state{c.source.state, &at})
	return err
}

// compose merges the agent's state with a target. It returns nil if the target has all of the
// state, and a *CollisionError on conflicts.
func (c *composer) compose(ctx context.Context, t target) (*composed, error) {
	if err := c.lookAtBoth(ctx, t); err != nil {
		return nil, err
	}
	if c.sides.theirs == t.tip {
		return nil, errors.Join(c.noteRewound(ctx, t), c.lostOnly(t))
	}
	go func() { _, _ = c.signs() }()
	merged, err := c.m.Objects().MergeTree(ctx, t.place(c.m), c.sides.ours, c.sides.theirs)
	if err != nil {
		return nil, err
	}
	if err := c.noteRewound(ctx, t); err != nil {
		return nil, err
	}
	if len(merged.Conflicts) > 0 {
		return nil, c.hintAgain(ctx, c.collided(ctx, t, merged), merged.Conflicts)
	}
	if merged.Tree, err = c.withIgnored(ctx, t, merged.Tree); err != nil {
		return nil, err
	}
	files, err := c.changed(ctx, t.tip, merged.Tree)
	if err != nil || files == 0 {
		return nil, errors.Join(err, c.lostOnly(t))
	}
	c.noteLost(t)
	one := &composed{tree: merged.Tree, state: c.sides.state, files: files}
	return one, c.commit(ctx, t, one)
}

// commit makes the commits of a landing, in the form that the user chose.
func (c *composer) commit(ctx context.Context, t target, one *composed) error {
	facts, own, err := c.lookAtWork(ctx, one)
	if err != nil {
		return err
	}
	one.title, one.commits = facts.title(), 1
	facts.Listed = c.as == Squash
	parents := []string{t.tip}
	switch c.as {
	case Squash:
	case Commits:
		tips, err := c.replay(ctx, t, own)
		if err != nil {
			return err
		}
		last := len(tips) - 1
		if tree, err := c.m.Objects().TreeOf(ctx, tips[last]); err != nil || tree == one.tree {
			one.commits, one.commit = last, tips[last]
			return err
		}
		one.commits, parents = last+1, tips[last:]
		facts.Commits = nil
	case Merge:
		if len(c.sides.left) > 0 || c.sides.h != nil && c.sides.h.hasLeft(c.source.head) {
			return errs.New(errs.Refused, "%s: --as merge would bring commits that it got and that %s does not have", c.name(), t.branch).
				Hint("paw land %s --as squash", c.name())
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
	one.commit, err = c.make(ctx, worktree.NewCommit{Tree: one.tree, Parents: parents, Message: text})
	return err
}

// make makes a commit for the target, signed if the user signs commits.
func (c *composer) make(ctx context.Context, one worktree.NewCommit) (commit string, err error) {
	if one.Sign, err = c.signs(); err != nil {
		return "", err
	}
	return c.m.Objects().Commit(ctx, one)
}

// lookAtWork finds the turns and commits of the agent that a landing brings.
func (c *composer) lookAtWork(ctx context.Context, one *composed) (messageFacts, []worktree.CommitInfo, error) {
	one.brought = c.brought()
	own, err := c.ownCommits(ctx)
	return c.factsFor(one.brought, own), own, err
}

// ownCommits returns the agent's new commits: commits that the branch lacks and that the agent did
// not get from the branch.
func (c *composer) ownCommits(ctx context.Context) ([]worktree.CommitInfo, error) {
	h := c.sides.h
	if c.source.head == c.asker.t.tip || h != nil && h.inTip[c.source.head] {
		return nil, nil
	}
	own, err := c.m.Objects().CommitsSince(ctx, c.source.head, c.asker.t.tip)
	if err != nil || h == nil {
		return own, err
	}
	known, got := h.of(c.sides.tip), h.gotWith(c.source.head)
	return slices.DeleteFunc(own, func(one worktree.CommitInfo) bool { return known[one.ID] || got[one.ID] }), nil
}

// brought returns the turns that led to the state and that the branch lacks, or that are brought
// again.
func (c *composer) brought() []turns.Turn {
	had := c.sides.had()
	again := c.turnsAgain()
	var some []turns.Turn
	for _, t := range c.source.turns {
		p := point{turnSession: c.agent.TurnSession, turn: t.Number}
		if slices.Contains(c.sides.line, p) && (again[t.Number] || !had[p]) {
			some = append(some, t)
		}
	}
	return some
}

// landedAgain returns the agent's landings that are brought again: those that the branch has lost,
// if the user asks for that, and those that the branch does not have at all.
func (c *composer) landedAgain() (some []*Stand) {
	for _, one := range c.asker.led.of(c.agent.TurnSession) {
		if slices.Contains(c.asker.instead(c.sides), one.ID) && !one.ByFiles {
			some = append(some, one)
		}
	}
	return some
}

// turnsAgain returns the numbers of landed turns that the branch has lost and that are brought
// again.
func (c *composer) turnsAgain() map[int]bool {
	again := map[int]bool{}
	if !c.sides.askedFor {
		return again
	}
	for _, one := range c.sides.lost {
		for _, p := range one.line {
			again[p.turn] = again[p.turn] || p.turnSession == c.agent.TurnSession && c.broughtBy(one, p)
		}
		for _, by := range c.asker.led.of(c.agent.TurnSession) {
			if by.stands() && by.Standing != Reverted && slices.Contains(by.Instead, one.ID) {
				for _, number := range numbersIn(by.Turns) {
					delete(again, number)
				}
			}
		}
	}
	return again
}

// broughtBy reports whether lost work contains the work of a turn.
func (c *composer) broughtBy(one lostWork, p point) bool {
	if one.TurnSession == c.agent.TurnSession {
		return slices.Contains(numbersIn(one.Turns), p.turn)
	}
	h := c.sides.h
	has := h.of(one.to...)
	return (has[p.String()] || has[h.commits[p.String()]]) && !h.of(one.Before)[p.String()]
}

// replay makes the agent's commits again on top of a target. tips are the resulting commits,
// beginning with the target's tip. Commits whose changes the target has are left out.
func (c *composer) replay(ctx context.Context, t target, own []worktree.CommitInfo) (tips []string, err error) {
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
				Hint("paw land %s --as squash", c.name())
		}
		if tree, err := c.m.Objects().TreeOf(ctx, tip); err != nil || tree == picked.Tree {
			if err != nil {
				return nil, err
			}
			continue
		}
		next, err := c.make(ctx, worktree.NewCommit{Tree: picked.Tree, Parents: []string{tip}, Message: one.Message, Author: one.Author})
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
func (c *composer) pick(ctx context.Context, t target, onto string, one worktree.CommitInfo) (worktree.Merged, error) {
	picked, err := c.m.Objects().PickTree(ctx, t.place(c.m), onto, one)
	if err != nil || len(picked.Conflicts) == 0 || c.sides.h == nil {
		return picked, err
	}
	base, err := c.asker.base(ctx, c.sides)
	if err != nil {
		return picked, err
	}
	tree := base // for a commit without parents
	if len(one.Parents) > 0 {
		if tree, err = c.m.Objects().TreeWith(ctx, one.Parents[0], base, picked.Conflicts); err != nil {
			return picked, err
		}
	}
	return c.m.Objects().MergeTrees(ctx, t.place(c.m), tree, onto, one.ID)
}

// side returns the second parent of a merge: the agent's branch, with a commit for what is not
// committed.
func (c *composer) side(ctx context.Context, facts messageFacts) (string, error) {
	if c.source.state == c.source.head {
		return c.source.head, nil
	}
	tree, err := c.m.Objects().TreeOf(ctx, c.source.state)
	if err != nil {
		return "", err
	}
	facts.Asked, facts.Commits = "", nil
	return c.make(ctx, worktree.NewCommit{Tree: tree, Parents: []string{c.source.head}, Message: facts.message()})
}

// along names work that lands although it is another agent's: this agent began in the midst of it.
// It returns "" for none.
func (c *composer) along(ctx context.Context, tree string) (string, error) {
	from := c.agent.From
	switch {
	case from == nil:
		return "", nil
	case from.Agent == "":
		return c.alongHanded(ctx, tree)
	}
	base, err := c.asker.base(ctx, c.sides)
	if err != nil {
		return "", err
	}
	start := cmp.Or(from.Snapshot, c.agent.BaseCommit)
	if has, err := c.m.Objects().Contains(ctx, base, start); has || err != nil {
		return "", err
	}
	files, err := c.changed(ctx, base, start)
	if files == 0 || err != nil {
		return "", err
	}
	name := from.Agent
	if !strings.Contains(name, ":") { // an agent of this session
		name = c.session.Name + "/" + name
	}
	return fmt.Sprintf("work of %s that %s began with: %s", name, c.agent.Name, errs.Counted(files, "file")), nil
}
