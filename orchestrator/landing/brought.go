package landing

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"paw/orchestrator/turns"
	"paw/session/turn"
	"paw/worktree/objects"
)

// composer makes the commits of one landing.
type composer struct {
	work
	source  *source
	options Options
	message func(draft string) (string, error)
	version func(made []turns.Turn) string // version of the CLI; nil if no message needs it
	signs   func() (bool, error)           // whether the user signs commits; asked while git merges

	asker *asker // nil before a look at what has landed
	sides *sides
}

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

// lookAtBoth finds what the state and the target have in common.
func (c *composer) lookAtBoth(ctx context.Context, t target) (err error) {
	if c.asker == nil {
		c.countTurns(c.source)
		if c.asker, err = c.askerFor(ctx, t, c.options.Again); err != nil {
			return err
		}
	}
	c.sides, err = c.asker.sides(ctx, c.asker.at(c.source.state, c.source.turn))
	return err
}

// line returns the command of the landing that the composer works on, with a change of its options.
func (c *composer) line(change func(o *Options)) string {
	o := c.options
	change(&o)
	return o.line(c.Session, c.Record.Name)
}

// squashLine returns the command that lands the same as one commit.
func (c *composer) squashLine() string {
	return c.line(func(o *Options) { o.As = Squash }) + " --as " + string(Squash)
}

// countTurns notes in the agent's record which turns there are: the turn log is written before the
// record.
func (w work) countTurns(src *source) {
	w.Record.TurnHighWater = max(w.Record.TurnHighWater, src.lastTurn())
}

// lookAtWork finds the turns and commits of the agent that a landing brings.
func (c *composer) lookAtWork(ctx context.Context, one *composed) (messageFacts, []objects.CommitInfo, error) {
	one.brought = c.brought()
	own, err := c.ownCommits(ctx)
	return c.factsFor(one.brought, own), own, err
}

// ownCommits returns the agent's new commits: commits that the branch lacks and that the agent did
// not get from the branch.
func (c *composer) ownCommits(ctx context.Context) ([]objects.CommitInfo, error) {
	h := c.sides.h
	if c.source.head == c.asker.t.tip || h != nil && h.inTip[c.source.head] {
		return nil, nil
	}
	own, err := c.Repo.Objects().CommitsSince(ctx, c.source.head, c.asker.t.tip)
	if err != nil || h == nil {
		return own, err
	}
	known, got := h.of(c.sides.tip), h.gotWith(c.source.head)
	return slices.DeleteFunc(own, func(one objects.CommitInfo) bool { return known[one.ID] || got[one.ID] }), nil
}

// brought returns the turns that led to the state and that the branch lacks, or that are brought
// again.
func (c *composer) brought() []turns.Turn {
	had := c.sides.had()
	again := c.turnsAgain()
	var some []turns.Turn
	for _, t := range c.source.turns {
		p := point{turnSession: c.Record.TurnSession, turn: t.Number}
		if slices.Contains(c.sides.line, p) && (again[t.Number] || !had[p]) {
			some = append(some, t)
		}
	}
	return some
}

// turnsAgain returns the numbers of landed turns that the branch has lost and that are brought
// again.
func (c *composer) turnsAgain() map[int]bool {
	again := map[int]bool{}
	if !c.options.Again {
		return again
	}
	for _, one := range c.sides.lost {
		for _, p := range one.line {
			again[p.turn] = again[p.turn] || p.turnSession == c.Record.TurnSession && c.broughtBy(one, p)
		}
		for _, by := range c.asker.led.of(c.Record.TurnSession) {
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
	if one.TurnSession == c.Record.TurnSession {
		return slices.Contains(numbersIn(one.Turns), p.turn)
	}
	h := c.sides.h
	has := h.of(one.to...)
	return (has[p.String()] || has[h.commits[p.String()]]) && !h.of(one.Before)[p.String()]
}

// factsFor collects the facts about turns and commits that land.
func (c *composer) factsFor(brought []turns.Turn, own []objects.CommitInfo) messageFacts {
	f := messageFacts{Session: c.Session.Name, Agent: c.Record.Name, CLI: c.Record.CLI, Turns: brought, Asked: c.options.Message}
	if done := c.Record.Done; done != nil && len(brought) > 0 && done.Turn == brought[len(brought)-1].Number {
		f.Said = done.Message
	}
	for _, one := range own { // the agent may have taken a prompt of paw as the message
		f.Commits = append(f.Commits, oneLine(turn.Prompt(one.Message).Task()))
	}
	instead := c.asker.instead(c.sides)
	for _, one := range c.asker.led.of(c.Record.TurnSession) {
		if slices.Contains(instead, one.ID) && !one.ByFiles {
			f.Again = cmp.Or(f.Again, one.Title)
		}
	}
	if c.version != nil {
		f.CLI = strings.TrimSpace(f.CLI + " " + c.version(brought))
	}
	return f
}
