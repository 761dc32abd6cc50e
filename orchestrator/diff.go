package orchestrator

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// DiffOptions selects what to compare.
type DiffOptions struct {
	Range      string // "" what would land, "N" turn N, "N..M" from the end of turn N to the end of turn M
	Than       string // another agent, with whose state that of the agent is compared; without a Range
	Unseen     bool   // since the user looked last, in place of the base; without Range and Than
	Upto       string // with Unseen: to the end of this turn, "" for the state of now
	State      string // commit of a state of the agent that was shown before, in place of that of now or of Upto; without a Range and Than
	Paths      []string
	Stat       bool
	Color      bool
	StateAlone bool // To alone is asked for
	Reads      bool // nothing is left in the repository: nobody asks for From and To by their ids later, or marks them as seen

	Force bool // also with the commit alone of a turn that has no snapshot
}

// Compared are two states of an agent.
type Compared struct {
	From, To string // commits

	home   *app.App
	m      worktree.Manager
	reader worktree.Manager // leaves nothing in the repository
	drop   func()           // what the reader has made
	s      *session.Session
	w      *session.Agent
	look   turns.State // To as something that can be seen
	upto   string
}

// Compare takes the two states that the options mean. A single turn is compared with the state at its begin, so that what a
// human edited between turns is not the agent's. Turn 0 is the base. With another agent it is what would make the state of
// the first one that of the other.
func Compare(ctx context.Context, h *app.App, s *session.Session, agentName string, o DiffOptions) (*Compared, error) {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	CloseUnseen(ctx, h, s, agentName)
	c := &Compared{home: h, m: m, s: s, w: w, upto: o.Upto}
	if c.reader, c.drop, err = m.WithScratch(); err != nil {
		return nil, err
	}
	if o.Reads {
		c.m = c.reader
	}
	if err := c.take(ctx, o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// take takes the two states.
func (c *Compared) take(ctx context.Context, o DiffOptions) error {
	if o.Unseen {
		return c.sinceLook(ctx, o)
	}
	if o.Range != "" || o.Than != "" {
		return c.ends(ctx, o)
	}
	if err := c.now(ctx, o); err != nil || o.StateAlone {
		return err
	}
	return c.sinceTarget(ctx)
}

// sinceTarget makes From what the branch that the agent's work lands on has of it: To differs from that in the files which a
// landing brings. Without such a branch, or where nobody can tell, it is the agent's base.
func (c *Compared) sinceTarget(ctx context.Context) error {
	base, err := landing.Base(ctx, c.home, c.reader, c.s, c.w.Name, c.To, 0, "")
	if told := new(errs.Error); errors.As(err, &told) {
		base, err = c.w.Base(), nil
	}
	c.From = base
	return err
}

// Close removes what was made for the comparison.
func (c *Compared) Close() { c.drop() }

// sinceLook compares what the user saw last with the agent as it is, or was at the end of a turn.
func (c *Compared) sinceLook(ctx context.Context, o DiffOptions) (err error) {
	if c.From, err = turns.LastSeen(ctx, c.m, c.w); err != nil {
		return err
	}
	if o.Upto == "" {
		if err := c.now(ctx, o); err != nil || c.From != c.w.Base() {
			return err
		}
		return c.sinceTarget(ctx) // there was no look yet
	}
	list, _, err := turns.List(ctx, c.home, c.m, c.s, *c.w)
	if err != nil {
		return err
	}
	if c.To = o.State; c.To == "" {
		byForce := turns.Force{Yes: o.Force, Command: "paw seen " + c.w.Name}
		if c.To, err = turns.EndOf(ctx, c.home, c.m, c.s, c.w, list, o.Upto, byForce); err != nil {
			return err
		}
	}
	number, err := strconv.Atoi(o.Upto)
	c.look = turns.State{Commit: c.To, Finished: turns.FinishedUpTo(list.Turns, number), Last: number}
	return err
}

// now compares with the agent as it is, or as it was shown.
func (c *Compared) now(ctx context.Context, o DiffOptions) (err error) {
	if c.To = o.State; c.To != "" {
		return nil
	}
	c.look, err = turns.CurrentState(ctx, c.home, c.m, c.s, c.w.Name)
	c.To = c.look.Commit
	return err
}

// Turn is the last turn that had ended in the second of the two states, well or not, where that is the one of now.
func (c *Compared) Turn() int { return c.look.Last }

// Patch writes what changed from the one to the other.
func (c *Compared) Patch(ctx context.Context, o DiffOptions, out io.Writer) error {
	return c.reader.Objects().Diff(ctx, c.w.WorktreePath, c.From, c.To, o.Stat, o.Color, out, o.Paths...)
}

// ends are the two commits that a range or another agent means.
func (c *Compared) ends(ctx context.Context, o DiffOptions) error {
	if o.Than != "" {
		other, err := app.AgentNamed(c.s, o.Than)
		if err != nil {
			return err
		}
		if c.From, err = turns.StateNow(ctx, c.home, c.m, c.s, c.w); err != nil {
			return err
		}
		c.To, err = turns.StateNow(ctx, c.home, c.m, c.s, other)
		return err
	}
	list, _, err := turns.List(ctx, c.home, c.m, c.s, *c.w)
	if err != nil {
		return err
	}
	first, last, ranged := strings.Cut(o.Range, "..")
	byForce := turns.Force{Yes: o.Force, Command: "paw diff " + c.w.Name + " " + o.Range + " --force"}
	if ranged {
		if c.From, err = turns.EndOf(ctx, c.home, c.m, c.s, c.w, list, first, byForce); err != nil {
			return err
		}
		c.To, err = turns.EndOf(ctx, c.home, c.m, c.s, c.w, list, last, byForce)
		return err
	}
	one, err := turns.Numbered(c.s, list, first)
	if err != nil {
		return err
	}
	if c.From = one.Before; c.From == "" {
		if c.From, err = turns.CommitAlone(c.home, c.w.Name, one.Number, "begin", one.StartCommit, byForce); err != nil {
			return err
		}
	}
	c.To, err = turns.End(ctx, c.home, c.m, c.s, c.w, one, byForce)
	return err
}
