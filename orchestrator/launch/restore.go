package launch

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// restoreWorktree makes a worktree again whose directory is gone, or registers
// one again that git does not know any more. The job says what came of it.
func restoreWorktree(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, w *session.Agent, j *Job) {
	rescue, err := m.Restore(ctx, app.PlanOf(s, *w), h.Step)
	if err != nil {
		j.refuse(app.Conflict(err))
		return
	}
	if j.Worktree == WorktreeRegister {
		j.Notes = append(j.Notes, "git did not know its worktree any more and does again; no file in it was changed")
	} else {
		j.Notes = append(j.Notes, fmt.Sprintf("its worktree was missing and was checked out again from %s; files that were not committed are not in it", w.Branch))
		if n := turnWithMore(ctx, h, m, s, w); n > 0 {
			j.Notes = append(j.Notes, fmt.Sprintf("files that were not committed at the end of turn %d come back with: paw rewind %s %d --session %s", n, w.Name, n, s.Name))
		}
	}
	if rescue != "" {
		j.Notes = append(j.Notes, "what it had staged is kept in "+rescue)
	}
	h.Step("worktree.restored")
}

// turnWithMore is the last turn when its snapshot has what was not committed on
// top of the commit that its worktree is at now, else 0.
func turnWithMore(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, w *session.Agent) int {
	list, _, err := turns.List(ctx, h, m, s, *w)
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
func lastCommitOf(h *app.App, entries []worktree.Entry, s *session.Session, w session.Agent) string {
	for _, e := range entries {
		if e.Path == w.WorktreePath && e.LastHead() != "" {
			return e.LastHead()
		}
	}
	if last, err := h.TurnDir(s.Name, w.Name).Last(); err == nil && last != nil {
		return cmp.Or(last.CommitHash, last.StartCommit, w.BaseCommit)
	}
	return w.BaseCommit
}

// WayBack is what a user can do when something else is where the worktree of an
// agent was.
func WayBack(s *session.Session, w *session.Agent) string {
	path := errs.Quote(w.WorktreePath)
	switch info, err := os.Lstat(filepath.Join(w.WorktreePath, ".git")); {
	case err != nil: // a folder of somebody
		return fmt.Sprintf("mv %s %s && paw recover %s", path, errs.Quote(w.WorktreePath+".aside"), s.Name)
	case info.IsDir(): // a repository of its own
		return fmt.Sprintf("paw remove %s --keep-worktree --session %s", w.Name, s.Name)
	}
	return fmt.Sprintf("git -C %s worktree repair %s", errs.Quote(s.RepoPath), path)
}
