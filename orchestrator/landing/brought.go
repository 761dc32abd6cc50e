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

// lookAtBoth finds what the state and the target have in common.
func (l *landing) lookAtBoth(ctx context.Context) (err error) {
	if l.asker == nil {
		l.countTurns(l.source)
		if l.asker, err = l.askerFor(ctx, l.target, l.options.Again); err != nil {
			return err
		}
	}
	one := l.asker.at(l.source.state, l.source.turn)
	one.head = l.source.head
	l.sides, err = l.asker.sides(ctx, one)
	return err
}

// line returns the command of the landing with a change of its options.
func (l *landing) line(change func(o *Options)) string {
	o := l.options
	change(&o)
	return o.line(l.Session, l.Record.Name)
}

// squashLine returns the command that lands the same as one commit.
func (l *landing) squashLine() string {
	return l.line(func(o *Options) { o.As = Squash }) + " --as " + string(Squash)
}

// countTurns notes in the agent's record which turns there are: the turn log is written before the
// record.
func (w work) countTurns(src *source) {
	w.Record.TurnHighWater = max(w.Record.TurnHighWater, src.lastTurn())
}

// lookAtWork finds the turns and commits of the agent that a landing brings.
func (l *landing) lookAtWork(ctx context.Context) (messageFacts, []objects.CommitInfo, error) {
	own, err := l.ownCommits(ctx)
	return l.factsFor(l.brought(), own), own, err
}

// ownCommits returns the agent's new commits: commits that the branch lacks and that the agent did
// not get from the branch.
func (l *landing) ownCommits(ctx context.Context) ([]objects.CommitInfo, error) {
	h := l.sides.h
	if l.source.head == l.tip || h != nil && h.inTip[l.source.head] {
		return nil, nil
	}
	own, err := l.Repo.Objects().CommitsSince(ctx, l.source.head, l.tip)
	if err != nil || h == nil {
		return own, err
	}
	known, got := h.of(l.sides.tip), h.gotWith(l.source.head)
	return slices.DeleteFunc(own, func(one objects.CommitInfo) bool { return known[one.ID] || got[one.ID] }), nil
}

// brought returns the turns that led to the state and that the branch lacks, or that are brought
// again.
func (l *landing) brought() []turns.Turn {
	had := l.sides.had()
	again := l.turnsAgain()
	var some []turns.Turn
	for _, t := range l.source.turns {
		p := point{turnSession: l.Record.TurnSession, turn: t.Number}
		if slices.Contains(l.sides.line, p) && (again[t.Number] || !had[p]) {
			some = append(some, t)
		}
	}
	return some
}

// turnsAgain returns the numbers of landed turns that the branch has lost and that are brought
// again.
func (l *landing) turnsAgain() map[int]bool {
	again := map[int]bool{}
	if !l.options.Again {
		return again
	}
	for _, one := range l.sides.lost {
		for _, p := range one.line {
			again[p.turn] = again[p.turn] || p.turnSession == l.Record.TurnSession && l.broughtBy(one, p)
		}
		for _, by := range l.asker.led.of(l.Record.TurnSession) {
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
func (l *landing) broughtBy(one lostWork, p point) bool {
	if one.TurnSession == l.Record.TurnSession {
		return slices.Contains(numbersIn(one.Turns), p.turn)
	}
	h := l.sides.h
	has := h.of(one.to...)
	return (has[p.String()] || has[h.commits[p.String()]]) && !h.of(one.Before)[p.String()]
}

// factsFor collects the facts about turns and commits that land.
func (l *landing) factsFor(brought []turns.Turn, own []objects.CommitInfo) messageFacts {
	f := messageFacts{Session: l.Session.Name, Agent: l.Record.Name, CLI: l.Record.CLI, Turns: brought, Asked: l.options.Message}
	if done := l.Record.Done; done != nil && len(brought) > 0 && done.Turn == brought[len(brought)-1].Number {
		f.Said = done.Message
	}
	for _, one := range own { // the agent may have taken a prompt of paw as the message
		f.Commits = append(f.Commits, oneLine(turn.Prompt(one.Message).Task()))
	}
	instead := l.asker.instead(l.sides)
	for _, one := range l.asker.led.of(l.Record.TurnSession) {
		if slices.Contains(instead, one.ID) && !one.ByFiles {
			f.Again = cmp.Or(f.Again, one.Title)
		}
	}
	if l.version != nil {
		f.CLI = strings.TrimSpace(f.CLI + " " + l.version(brought))
	}
	return f
}
