package orchestrator

import (
	"strings"

	"paw/config"
	"paw/session"
)

// spawnLimit refuses one more child of an agent; depth is the child's, running are
// the agent's children that run or are being started.
func spawnLimit(parent string, depth int, running []string, limits config.Agents) error {
	if depth > limits.MaxDepth {
		return failf(KindRefused, "%s: may not start agents: they would be at depth %d, and agents.max_depth is %d", parent, depth, limits.MaxDepth).
			hint("paw done")
	}
	if len(running) >= limits.MaxChildren {
		return failf(KindRefused, "%s: has as many children as it may, agents.max_children is %d: %s", parent, limits.MaxChildren, strings.Join(running, ", ")).
			hint("paw wait --any").hint("paw stop %s", running[0])
	}
	return nil
}

// maySpawn is spawnLimit with the facts of a record, as they are now.
func (p *Paw) maySpawn(s *session.Session, parent string) error {
	if _, err := agentNamed(s, parent); err != nil {
		return err
	}
	open, processes := p.openLaunches(s.Name), lookAtProcesses()
	var running []string
	for _, name := range s.Children(parent) {
		lock, err := p.probe(s.Name, *s.Worktree(name), processes)
		if err != nil || lock.State != session.LockFree || s.Worktree(name).Phase == session.PhaseCreating || len(open[name]) > 0 {
			running = append(running, name)
		}
	}
	return spawnLimit(parent, s.Depth(parent)+1, running, p.Config.Agents)
}
