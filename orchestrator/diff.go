package orchestrator

import (
	"context"
	"io"
	"strconv"
	"strings"

	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// DiffOptions selects what to compare.
type DiffOptions struct {
	Range  string // "" since the base, "N" turn N, "N..M" from the end of turn N to the end of turn M
	Than   string // another agent, with whose state that of the agent is compared; without a Range
	Unseen bool   // since the user looked last, in place of the base; without Range and Than
	Upto   string // with Unseen: to the end of this turn, "" for the state of now
	State  string // commit of a state of the agent that was shown before, in place of that of now or of Upto; without a Range and Than
	Paths  []string
	Stat   bool
	Color  bool
	Force  bool // also with the commit alone of a turn that has no snapshot
}

// Compared are two states of an agent.
type Compared struct {
	From, To string // commits

	home *home.Home
	m    worktree.Manager
	s    *session.Session
	w    *session.Worktree
	look turns.Look // To as something that can be seen
	upto string
}

// Compare takes the two states that the options mean. A single turn is compared with the state at its begin, so that what a
// human edited between turns is not the agent's. Turn 0 is the base. With another agent it is what would make the state of
// the first one that of the other.
func Compare(ctx context.Context, h *home.Home, s *session.Session, agentName string, o DiffOptions) (*Compared, error) {
	w, err := home.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	c := &Compared{home: h, m: m, s: s, w: w, upto: o.Upto}
	if o.Unseen {
		return c, c.sinceLook(ctx, o)
	}
	if o.Range == "" && o.Than == "" {
		c.From = w.BaseCommit
		return c, c.now(ctx, o)
	}
	c.From, c.To, err = diffEnds(ctx, h, c.m, s, w, o)
	return c, err
}

// sinceLook compares what the user saw last with the agent as it is, or was at the end of a turn.
func (c *Compared) sinceLook(ctx context.Context, o DiffOptions) (err error) {
	if c.From, err = turns.LastSeen(ctx, c.m, c.w); err != nil {
		return err
	}
	if o.Upto == "" {
		return c.now(ctx, o)
	}
	list, _, err := turns.List(ctx, c.home, c.m, c.s, *c.w)
	if err != nil {
		return err
	}
	if c.To = o.State; c.To == "" {
		byForce := turns.Forced{Yes: o.Force, Command: "paw seen " + c.w.Agent}
		if c.To, err = endOf(ctx, c.home, c.m, c.s, c.w, list, o.Upto, byForce); err != nil {
			return err
		}
	}
	number, err := strconv.Atoi(o.Upto)
	c.look = turns.Look{Commit: c.To, Finished: turns.FinishedUpTo(list.Turns, number)}
	return err
}

// now compares with the agent as it is, or as it was shown.
func (c *Compared) now(ctx context.Context, o DiffOptions) (err error) {
	if c.To = o.State; c.To != "" {
		return nil
	}
	c.look, err = turns.LookNow(ctx, c.home, c.m, c.s, c.w.Agent)
	c.To = c.look.Commit
	return err
}

// Turn is the last turn that had finished in the second of the two states, where that is the one of now.
func (c *Compared) Turn() int { return c.look.Finished.Last }

// Patch writes what changed from the one to the other.
func (c *Compared) Patch(ctx context.Context, o DiffOptions, out io.Writer) error {
	return c.m.Diff(ctx, c.w.WorktreePath, c.From, c.To, o.Stat, o.Color, out, o.Paths...)
}

// diffEnds are the two commits that a range or another agent means.
func diffEnds(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session, w *session.Worktree, o DiffOptions) (from, to string, err error) {
	if o.Than != "" {
		other, err := home.AgentNamed(s, o.Than)
		if err != nil {
			return "", "", err
		}
		if from, err = turns.StateNow(ctx, h, m, s, w); err != nil {
			return "", "", err
		}
		to, err = turns.StateNow(ctx, h, m, s, other)
		return from, to, err
	}
	list, _, err := turns.List(ctx, h, m, s, *w)
	if err != nil {
		return "", "", err
	}
	first, last, ranged := strings.Cut(o.Range, "..")
	byForce := turns.Forced{Yes: o.Force, Command: "paw diff " + w.Agent + " " + o.Range + " --force"}
	if !ranged {
		one, err := turns.Numbered(s, list, first)
		if err != nil {
			return "", "", err
		}
		if from = one.Before; from == "" {
			if from, err = turns.CommitAlone(h, w.Agent, one.Number, "begin", one.StartCommit, byForce); err != nil {
				return "", "", err
			}
		}
		to, err = turns.End(ctx, h, m, s, w, one, byForce)
		return from, to, err
	}
	if from, err = endOf(ctx, h, m, s, w, list, first, byForce); err != nil {
		return "", "", err
	}
	to, err = endOf(ctx, h, m, s, w, list, last, byForce)
	return from, to, err
}

// endOf is the state at the end of a turn; 0 is the base.
func endOf(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session, w *session.Worktree, list turns.Sequence, number string, byForce turns.Forced) (string, error) {
	if number == "0" {
		return w.BaseCommit, nil
	}
	one, err := turns.Numbered(s, list, number)
	if err != nil {
		return "", err
	}
	return turns.End(ctx, h, m, s, w, one, byForce)
}
