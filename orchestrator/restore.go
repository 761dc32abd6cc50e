package orchestrator

import (
	"cmp"
	"context"
	"fmt"

	"paw/session"
	"paw/worktree"
)

// restoreWorktree makes a worktree again whose directory is gone, or registers
// one again that git does not know any more. The job says what came of it.
func (p *Paw) restoreWorktree(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, j *job) {
	rescue, err := m.Restore(ctx, planOf(s, *w))
	if err != nil {
		j.refuse(conflict(err))
		return
	}
	if j.worktree == worktreeRegister {
		j.notes = append(j.notes, "git did not know its worktree any more and does again; no file in it was changed")
	} else {
		j.notes = append(j.notes, fmt.Sprintf("its worktree was missing and was checked out again from %s; files that were not committed are not in it", w.Branch))
		if n := p.turnWithMore(ctx, m, s, w); n > 0 {
			j.notes = append(j.notes, fmt.Sprintf("files that were not committed at the end of turn %d come back with: paw rewind %s %d --session %s", n, w.Agent, n, s.Name))
		}
	}
	if rescue != "" {
		j.notes = append(j.notes, "what it had staged is kept in "+rescue)
	}
	p.Step("worktree.restored")
}

// turnWithMore is the last turn when its snapshot has what was not committed on
// top of the commit that its worktree is at now, else 0.
func (p *Paw) turnWithMore(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree) int {
	list, _, err := p.listTurns(ctx, m, s, *w)
	if err != nil || len(list.Turns) == 0 {
		return 0
	}
	last := list.Turns[len(list.Turns)-1]
	head, err := m.WorktreeHead(ctx, w.WorktreePath)
	if err != nil || last.After == "" || last.After == head {
		return 0
	}
	if parent, err := m.Head(ctx, last.After+"^"); err != nil || parent != head {
		return 0
	}
	return last.Number
}

// lastCommitOf is the newest commit known of an agent: where HEAD of its worktree
// was last, else where its last turn ended or began, else its base.
func (p *Paw) lastCommitOf(entries []worktree.Entry, s *session.Session, w session.Worktree) string {
	for _, e := range entries {
		if e.Path == w.WorktreePath && e.LastHead() != "" {
			return e.LastHead()
		}
	}
	if last, err := p.turnDir(s.Name, w.Agent).Last(); err == nil && last != nil {
		return cmp.Or(last.CommitHash, last.StartCommit, w.BaseCommit)
	}
	return w.BaseCommit
}

// onBranch tells whether HEAD of an agent's worktree names its branch.
func onBranch(entries []worktree.Entry, w session.Worktree) bool {
	for _, e := range entries {
		if e.Path == w.WorktreePath {
			return e.Branch == w.Branch
		}
	}
	return false
}
