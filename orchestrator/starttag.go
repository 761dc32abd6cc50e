package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// tagStarts tags the base of each agent that is being made as turn 0, before its
// CLI gets any key. A tag that an interrupted run of the same session left is
// that tag.
func (p *Paw) tagStarts(ctx context.Context, m worktree.Manager, s *session.Session, jobs []job) error {
	refs := map[string]string{}
	for _, j := range jobs {
		if j.result == ResultRefused || j.worktree != worktreeCreate {
			continue
		}
		w := s.Worktree(j.agent)
		tagged, err := p.turnTags(ctx, m, w.TurnSession)
		if err != nil {
			return err
		}
		if len(tagged) == 0 {
			refs[turn.TagRef(w.TurnSession, 0)] = w.BaseCommit
		}
		// The folder says whose tag it is when there is no record any more (loggedAgents).
		if err := os.MkdirAll(p.turnDir(s.Name, j.agent).Path, 0o700); err != nil {
			return err
		}
	}
	if err := m.CreateRefs(ctx, refs); err != nil {
		return err
	}
	p.Step("start.tagged")
	return nil
}

// untagStarts takes the tags of agents back that never started.
func (p *Paw) untagStarts(ctx context.Context, m worktree.Manager, s *session.Session) error {
	refs := map[string]string{}
	for _, w := range s.Worktrees {
		tagged, err := p.turnTags(ctx, m, w.TurnSession)
		if err != nil {
			return err
		}
		if len(tagged) == 1 && tagged[0] == 0 {
			refs[turn.TagRef(w.TurnSession, 0)] = w.BaseCommit
		}
		_ = os.Remove(p.turnDir(s.Name, w.Agent).Path) // when it is empty
	}
	_ = os.Remove(filepath.Join(p.Paths.TurnsDir(), s.Name))
	return m.DeleteRefs(ctx, refs)
}

// takenTurnSessions are the turn sessions that have tags already: their names
// cannot be used again, or turns of two sessions would be mixed.
func (p *Paw) takenTurnSessions(ctx context.Context, commonDir string) (map[string]bool, error) {
	numbers, ok, err := worktree.TurnTags(commonDir)
	if err != nil && !errors.Is(err, worktree.ErrNotRepository) {
		return nil, err
	}
	if err == nil && !ok {
		numbers = p.listTags(ctx, commonDir)
	}
	taken := map[string]bool{}
	for name := range numbers {
		taken[name] = true
	}
	return taken, nil
}

// loggedTurnSessions are the turn sessions that have logs, of any repository.
func (p *Paw) loggedTurnSessions() map[string]bool {
	logged := map[string]bool{}
	entries, err := os.ReadDir(p.Paths.TurnsDir())
	if err != nil {
		return logged
	}
	for _, e := range entries {
		for _, agent := range p.loggedAgents(e.Name()) {
			logged[e.Name()+"_"+agent] = true
		}
	}
	return logged
}

// takenAgents are the agent names of a session that turn tags use.
func takenAgents(taken map[string]bool, sessionName string) map[string]bool {
	agents := map[string]bool{}
	for name := range taken {
		if agent, ok := strings.CutPrefix(name, sessionName+"_"); ok {
			agents[agent] = true
		}
	}
	return agents
}
