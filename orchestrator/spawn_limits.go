package orchestrator

import (
	"strings"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
)

// spawnLimit refuses one more child of an agent; depth is the child's, running are
// the agent's children that run or are being started.
func spawnLimit(parent string, depth int, running []string, limits config.Agents) error {
	if depth > limits.MaxDepth {
		return errs.New(errs.Refused, "%s: may not start agents: they would be at depth %d, and agents.max_depth is %d", parent, depth, limits.MaxDepth).
			Hint("paw done")
	}
	if len(running) >= limits.MaxChildren {
		return errs.New(errs.Refused, "%s: has as many children as it may, agents.max_children is %d: %s", parent, limits.MaxChildren, strings.Join(running, ", ")).
			Hint("paw wait --any").Hint("paw stop %s", running[0])
	}
	return nil
}

// maySpawn is spawnLimit with the facts of a record, as they are now.
func maySpawn(h *app.App, s *session.Session, parent string) error {
	if _, err := app.AgentNamed(s, parent); err != nil {
		return err
	}
	open, processes := observe.OpenLaunches(h, s.Name), observe.LookAtProcesses()
	var running []string
	for _, name := range s.Children(parent) {
		lock, err := observe.Probe(h, s, *s.Agent(name), processes)
		if err != nil || lock.State != session.LockFree || s.Agent(name).Phase == session.PhaseCreating || len(open[name]) > 0 {
			running = append(running, name)
		}
	}
	return spawnLimit(parent, s.Depth(parent)+1, running, h.Config.Agents)
}
