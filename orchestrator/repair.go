package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"paw/session"
)

// repair mends the worktree registrations that paw's own interrupted steps left
// in the repository of a session: a half-made one stops git for everybody. Those of
// the session that the user has unlocked are locked again.
func (p *Paw) repair(ctx context.Context, s *session.Session) error {
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return err
	}
	m := p.manager(repository)
	report, err := m.Repair(ctx, func(reason string) bool {
		return strings.HasPrefix(reason, ownerPrefix)
	})
	for _, line := range report {
		p.note("%s", line)
	}
	if err != nil {
		return err
	}
	for _, w := range s.Worktrees {
		locked, err := m.Lock(ctx, planOf(s, w))
		if err != nil {
			return err
		}
		if locked {
			p.note("%s: its worktree was unlocked and is locked again, so that git keeps it", w.Agent)
		}
	}
	return nil
}

// wayBack is what a user can do when something else is where the worktree of an
// agent was.
func wayBack(s *session.Session, w *session.Worktree) string {
	path := Quote(w.WorktreePath)
	switch info, err := os.Lstat(filepath.Join(w.WorktreePath, ".git")); {
	case err != nil: // a folder of somebody
		return fmt.Sprintf("mv %s %s && paw recover %s", path, Quote(w.WorktreePath+".aside"), s.Name)
	case info.IsDir(): // a repository of its own
		return fmt.Sprintf("paw remove %s --keep-worktree --session %s", w.Agent, s.Name)
	}
	return fmt.Sprintf("git -C %s worktree repair %s", Quote(s.RepoPath), path)
}
