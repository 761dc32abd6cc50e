package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
	"paw/worktree/objects"
)

// DiffOptions selects what to compare.
type DiffOptions struct {
	Range      string // "" for the work to be landed, "N" for turn N, "N..M" for the changes from the end of turn N to the end of turn M
	Than       string // agent with whose state to compare; without Range
	Unseen     bool   // since the user looked last, instead of since the base; without Range and Than
	Upto       string // with Unseen, number of the turn at whose end the comparison stops, "" for the present state
	State      string // commit of a state that was shown before, instead of the present state or the end of Upto; without Range and Than
	Paths      []string
	Form       string // "stat", "numstat" or "name-only"; "" for a patch
	Color      bool
	StateAlone bool // only To is needed
	Reads      bool // leave nothing in the repository: From and To are not used by their ids later

	Force bool // accept the commit of a turn without a snapshot
}

// Compared has the two states of an agent to compare.
type Compared struct {
	From, To string   // commits or trees to compare
	Conflict []string // files in which the work conflicts with its target, so that it is compared with what both have

	of     app.Agent
	reader *worktree.Manager // writes nothing into the repository
	drop   func()            // deletes the objects that the reader has made

	look turns.State // state of To, to be marked as seen
	upto string
}

// Compare finds the two states that the options mean. A single turn is compared with the state at
// its begin, so that edits of the user between turns do not count as the agent's. Turn 0 is the
// base. With Than, the patch turns the agent's state into the other agent's.
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
	c := &Compared{of: h.Agent(s, w).In(m), upto: o.Upto}
	if c.reader, c.drop, err = m.WithScratch(); err != nil {
		return nil, err
	}
	if o.Reads {
		c.of.Repo = c.reader
	}
	if err := c.take(ctx, o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// take finds the two states.
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
	return c.landing(ctx, "")
}

// landing sets From and To to the target branch as it is and as a landing would make it or, with what was
// seen, as a landing of that would have made it. Without a target they are the agent's base and its
// state.
func (c *Compared) landing(ctx context.Context, seen string) error {
	shown, err := landing.ShowWork(ctx, c.of.In(c.reader), seen, c.look.Twin, c.look.Commit)
	switch told := new(errs.Error); {
	case errors.As(err, &told) && seen == "":
		c.From, err = c.of.Record.Base(), nil
	case errors.As(err, &told):
		c.From, err = seen, nil
	case err == nil:
		c.From, c.To, c.Conflict = shown.From, shown.To, shown.Conflicts
	}
	return err
}

// Close deletes what was made for the comparison.
func (c *Compared) Close() { c.drop() }

// sinceLook compares the state that the user saw last with the present state, or with the end of a
// turn.
func (c *Compared) sinceLook(ctx context.Context, o DiffOptions) (err error) {
	if c.From, err = turns.LastSeen(ctx, c.of); err != nil {
		return err
	}
	if o.Upto == "" {
		if err := c.now(ctx, o); err != nil {
			return err
		}
		if c.From == c.of.Record.Base() { // the user has not looked yet
			return c.landing(ctx, "")
		}
		return c.landing(ctx, c.From)
	}
	list, _, err := turns.List(ctx, c.of)
	if err != nil {
		return err
	}
	if c.To = o.State; c.To == "" {
		byForce := turns.Force{Yes: o.Force, Command: "paw seen " + c.of.Record.Name}
		if c.To, err = turns.EndOf(ctx, c.of, list, o.Upto, byForce); err != nil {
			return err
		}
	}
	number, err := strconv.Atoi(o.Upto)
	if err != nil {
		return err
	}
	c.look = turns.State{Commit: c.To, Finished: turns.FinishedUpTo(list.Turns, number), Last: number}
	chain, err := turns.ChainOf(ctx, c.of)
	if err == nil {
		c.look.Twin, err = chain.At(ctx, number, c.To)
	}
	return err
}

// now sets To to the agent's present state, or to the state that was shown before.
func (c *Compared) now(ctx context.Context, o DiffOptions) (err error) {
	if o.State == "" {
		c.look, err = turns.CurrentState(ctx, c.of)
	} else {
		c.look, err = turns.StateShown(ctx, c.of, o.State)
	}
	c.To = c.look.Commit
	return err
}

// State returns the commit of the second of the two states.
func (c *Compared) State() string { return c.look.Commit }

// Turn returns the last turn that had ended by the present state, 0 where To is another state.
func (c *Compared) Turn() int { return c.look.Last }

// Patch writes the changes from From to To.
func (c *Compared) Patch(ctx context.Context, o DiffOptions, out io.Writer) error {
	format := objects.DiffFormat{Form: o.Form, Color: o.Color}
	if o.Than != "" {
		format.From, format.To = c.of.Record.Name, o.Than
	}
	return c.reader.Objects().Diff(ctx, c.of.Record.WorktreePath, c.From, c.To, format, out, o.Paths...)
}

// FileChange is a file that differs, with the lines that were added and deleted.
type FileChange = objects.FileChange

// Files lists the files that differ between From and To.
func (c *Compared) Files(ctx context.Context, o DiffOptions) ([]FileChange, error) {
	return c.reader.Objects().FileChanges(ctx, c.of.Record.WorktreePath, c.From, c.To, o.Paths...)
}

// ends finds the two commits for a range, or for another agent.
func (c *Compared) ends(ctx context.Context, o DiffOptions) error {
	if o.Than != "" {
		other, err := app.AgentNamed(c.of.Session, o.Than)
		if err != nil {
			return err
		}
		if c.From, err = turns.StateNow(ctx, c.of); err != nil {
			return err
		}
		c.To, err = turns.StateNow(ctx, c.of.App.Agent(c.of.Session, other).In(c.of.Repo))
		return err
	}
	list, _, err := turns.List(ctx, c.of)
	if err != nil {
		return err
	}
	first, last, ranged := strings.Cut(o.Range, "..")
	byForce := turns.Force{Yes: o.Force, Command: "paw diff " + c.of.Record.Name + " " + o.Range + " --force"}
	if ranged {
		if c.From, err = turns.EndOf(ctx, c.of, list, first, byForce); err != nil {
			return err
		}
		c.To, err = turns.EndOf(ctx, c.of, list, last, byForce)
		return err
	}
	one, err := turns.Numbered(c.of.Session, list, first)
	if err != nil {
		return err
	}
	if c.From = one.Before; c.From == "" {
		if c.From, err = turns.CommitAlone(ctx, c.of, one.Number, "begin", one.StartCommit, byForce); err != nil {
			return err
		}
	}
	c.To, err = turns.End(ctx, c.of, one, byForce)
	return err
}

// Seen is the result of marking an agent as seen.
type Seen struct {
	Agent    string
	Turn     string // number of the turn whose end was seen, "" for the agent's current state
	Shown    bool   // the state is one shown earlier, which the user named by its commit
	ToReview int    // number of finished turns still to review
}

// MarkSeen marks an agent as seen: its current state, or with a number its state at the end of that
// turn, 0 being its base. With the commit of a state that was shown, it marks that state and the
// turns up to number.
func MarkSeen(ctx context.Context, h *app.App, s *session.Session, agentName, number, state string) (*Seen, error) {
	compared, err := Compare(ctx, h, s, agentName, DiffOptions{Unseen: true, Upto: number, State: state})
	if err != nil {
		return nil, err
	}
	defer compared.Close()
	seen, err := compared.MarkSeen(ctx)
	if err == nil && state != "" {
		seen.Shown = true
	}
	return seen, err
}

// MarkSeen marks the second of the two compared states as seen, not what the agent has done since.
func (c *Compared) MarkSeen(ctx context.Context) (*Seen, error) {
	if err := turns.MarkSeen(ctx, c.of, c.look); err != nil {
		return nil, err
	}
	return &Seen{Agent: c.of.Record.Name, Turn: c.upto, ToReview: max(c.of.Record.Turns-c.look.Finished.Turns, 0)}, nil
}

// String returns what was marked, and how many turns are left to review.
func (s *Seen) String() string {
	text := fmt.Sprintf("%s: seen up to the end of turn %s", s.Agent, s.Turn)
	switch {
	case s.Shown:
		text = s.Agent + ": marked as seen, as it was shown"
	case s.Turn == "":
		return s.Agent + ": marked as seen"
	}
	switch s.ToReview {
	case 0:
		return text
	case 1:
		return text + "; 1 turn is left to review"
	}
	return fmt.Sprintf("%s; %s are left to review", text, errs.Counted(s.ToReview, "turn"))
}
