package draft

import (
	"fmt"

	"paw/session"
	"paw/worktree"
)

// Describe lists what start would do.
func Describe(s *session.Session, plans []worktree.Plan) []string {
	steps := []string{fmt.Sprintf("record session %s for %s", s.Name, s.RepoPath)}
	for i, plan := range plans {
		if plan.CreateBranch {
			steps = append(steps, fmt.Sprintf("create branch %s at %.12s", plan.Branch, plan.Base))
		}
		steps = append(steps, fmt.Sprintf("check out %s in %s", plan.Branch, plan.Path))
		steps = append(steps, fmt.Sprintf("run %s in a pane of tmux session paw-%s", s.Worktrees[i].CLI, s.Name))
	}
	return steps
}
