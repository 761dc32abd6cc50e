package orchestrator

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// DiffOptions selects what to compare.
type DiffOptions struct {
	Range string // "" since the base, "N" turn N, "N..M" from the end of turn N to the end of turn M
	Stat  bool
	Color bool
	Force bool // also with the commit alone of a turn that has no snapshot
}

// Diff writes what an agent changed, as a patch that git apply takes. A single
// turn is compared with the state at its begin, so that what a human edited
// between turns is not the agent's. Turn 0 is the base.
func (p *Paw) Diff(ctx context.Context, s *session.Session, agentName string, o DiffOptions, out io.Writer) error {
	w, err := agentNamed(s, agentName)
	if err != nil {
		return err
	}
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return err
	}
	m := p.manager(repository)
	from, to, err := p.diffEnds(ctx, m, s, w, o)
	if err != nil {
		return err
	}
	return m.Diff(ctx, w.WorktreePath, from, to, o.Stat, o.Color, out)
}

// diffEnds are the two commits that a range means.
func (p *Paw) diffEnds(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, o DiffOptions) (from, to string, err error) {
	if o.Range == "" {
		to, err = p.stateNow(ctx, m, s, w)
		return w.BaseCommit, to, err
	}
	list, _, err := p.listTurns(ctx, m, s, *w)
	if err != nil {
		return "", "", err
	}
	first, last, ranged := strings.Cut(o.Range, "..")
	byForce := forced{yes: o.Force, command: "paw diff " + w.Agent + " " + o.Range + " --force"}
	if !ranged {
		one, err := turnNumbered(s, list, first)
		if err != nil {
			return "", "", err
		}
		if from = one.Before; from == "" {
			if from, err = p.commitAlone(w.Agent, one.Number, "begin", one.StartCommit, byForce); err != nil {
				return "", "", err
			}
		}
		to, err = p.turnEnd(ctx, m, s, w, one, byForce)
		return from, to, err
	}
	if from, err = p.endOf(ctx, m, s, w, list, first, byForce); err != nil {
		return "", "", err
	}
	to, err = p.endOf(ctx, m, s, w, list, last, byForce)
	return from, to, err
}

// endOf is the state at the end of a turn; 0 is the base.
func (p *Paw) endOf(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, list AgentTurns, number string, byForce forced) (string, error) {
	if number == "0" {
		return w.BaseCommit, nil
	}
	one, err := turnNumbered(s, list, number)
	if err != nil {
		return "", err
	}
	return p.turnEnd(ctx, m, s, w, one, byForce)
}

// turnEnd is the state at the end of a turn, that of now while it runs.
func (p *Paw) turnEnd(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, one *ListedTurn, byForce forced) (string, error) {
	switch {
	case one.State == turn.InProgress:
		return p.stateNow(ctx, m, s, w)
	case one.After == "":
		return p.commitAlone(w.Agent, one.Number, "end", cmp.Or(one.CommitHash, one.Head), byForce)
	}
	return one.After, nil
}

// turnNumbered finds a turn by what the user typed.
func turnNumbered(s *session.Session, list AgentTurns, text string) (*ListedTurn, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return nil, failf(KindUsage, "%q: not the number of a turn", text).hint("paw turns %s %s", s.Name, list.Agent)
	}
	for i := range list.Turns {
		if list.Turns[i].Number == n {
			return &list.Turns[i], nil
		}
	}
	return nil, failf(KindNotFound, "%s has no turn %d", list.Agent, n).hint("paw turns %s %s", s.Name, list.Agent)
}

// stateNow is a commit of the worktree as it is, kept by no ref.
func (p *Paw) stateNow(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree) (string, error) {
	scratch := filepath.Join(p.stateDir(s.Name, w.Agent), "snapshot")
	snapshot, err := m.SnapshotWithin(ctx, w.WorktreePath, "", "paw: "+w.Agent+" now", scratch, worktree.Budget{})
	return snapshot.Commit, err
}
