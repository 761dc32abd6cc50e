package orchestrator

import (
	"context"
	"io"
	"strings"

	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// DiffOptions selects what to compare.
type DiffOptions struct {
	Range string // "" since the base, "N" turn N, "N..M" from the end of turn N to the end of turn M
	Than  string // another agent, with whose state that of the agent is compared; without a Range
	Paths []string
	Stat  bool
	Color bool
	Force bool // also with the commit alone of a turn that has no snapshot
}

// Diff writes what an agent changed, as a patch that git apply takes. A single
// turn is compared with the state at its begin, so that what a human edited
// between turns is not the agent's. Turn 0 is the base. With another agent it is
// what would make the state of the first one that of the other.
func Diff(ctx context.Context, h *home.Home, s *session.Session, agentName string, o DiffOptions, out io.Writer) error {
	w, err := home.AgentNamed(s, agentName)
	if err != nil {
		return err
	}
	repository, err := h.RepositoryOf(ctx, s)
	if err != nil {
		return err
	}
	m := h.Manager(repository)
	from, to, err := diffEnds(ctx, h, m, s, w, o)
	if err != nil {
		return err
	}
	return m.Diff(ctx, w.WorktreePath, from, to, o.Stat, o.Color, out, o.Paths...)
}

// diffEnds are the two commits that a range means.
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
	if o.Range == "" {
		to, err = turns.StateNow(ctx, h, m, s, w)
		return w.BaseCommit, to, err
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
