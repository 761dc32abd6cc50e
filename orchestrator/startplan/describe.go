package startplan

import (
	"fmt"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// Describe lists what start would do.
func Describe(s *session.Session, plans []worktree.Plan) []string {
	steps := []string{fmt.Sprintf("record session %s for %s", s.Name, s.RepoPath)}
	for i, plan := range plans {
		if plan.CreateBranch {
			steps = append(steps, strings.TrimSuffix(fmt.Sprintf("create branch %s at %.12s", plan.Branch, plan.Base), " at "))
		}
		steps = append(steps, fmt.Sprintf("check out %s in %s", plan.Branch, plan.Path))
		steps = append(steps, fmt.Sprintf("run %s in a pane of tmux session paw-%s", s.Agents[i].CLI, s.Name))
	}
	return steps
}

// DescribeInEmpty is Describe for a directory that is about to become a repository.
func DescribeInEmpty(h *app.App, name, dir string, agents []Agent) ([]string, error) {
	s := &session.Session{Name: name, RepoPath: dir}
	var plans []worktree.Plan
	for _, a := range agents {
		path, err := h.Config.WorktreePath(dir, name, a.name)
		if err != nil {
			return nil, errs.New(errs.Usage, "%w", err)
		}
		branch := a.branch
		if branch == "" {
			branch = app.AutomaticBranch(name, a.name)
		}
		s.Agents = append(s.Agents, session.Agent{CLI: a.CLI})
		plans = append(plans, worktree.Plan{Branch: branch, Path: path, CreateBranch: true})
	}
	return append([]string{"make " + dir + " a git repository, with one empty commit"}, Describe(s, plans)...), nil
}
