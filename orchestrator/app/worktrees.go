package app

import (
	"errors"
	"io"
	"strings"

	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// BranchPrefix begins the branches that paw names itself.
const BranchPrefix = "paw/"

// AutomaticBranch is the branch of an agent for which nobody named another.
func AutomaticBranch(sessionName, agentName string) string {
	return BranchPrefix + sessionName + "/" + agentName
}

// MadeByPaw reports whether a branch was made for an agent, in this session or in
// an earlier one of the same name.
func MadeByPaw(sessionName string, w session.Agent) bool {
	return w.BranchCreated || w.Branch == AutomaticBranch(sessionName, w.Name)
}

// PlansOf are the worktree plans of agents.
func PlansOf(s *session.Session, agents []session.Agent) []worktree.Plan {
	plans := make([]worktree.Plan, 0, len(agents))
	for _, w := range agents {
		plans = append(plans, PlanOf(s, w))
	}
	return plans
}

// PlanOf is the worktree plan of one agent.
func PlanOf(s *session.Session, w session.Agent) worktree.Plan {
	return worktree.Plan{
		Agent: w.Name, Branch: w.Branch, Path: w.WorktreePath, Base: w.BaseCommit,
		CreateBranch: w.BranchCreated, TakeBack: w.TakenBack, Owner: OwnerOf(s, w.Name),
	}
}

// Setup is the configured set-up of the worktree of an agent, with the output of its command going to out.
func (h *App) Setup(agentName string, out io.Writer) worktree.Setup {
	c := h.Config.Worktree
	return worktree.Setup{
		Copy: c.Copy, Link: c.Link, Command: c.Setup, Env: h.ProjectEnv(), Out: out,
		Announce: func(command string) { h.Sayf("%s: %s", agentName, command) },
	}
}

// ProjectEnv is the environment of commands of the project: the user's, without what tells an agent which one it is. An agent
// that sets up a child, or runs checks, is not the one in whose worktree they run.
func (h *App) ProjectEnv() []string {
	return cli.Without(cli.Scrub(h.Env), []string{"PAW_SESSION", "PAW_AGENT", "PAW_LAUNCH"})
}

// OwnerPrefix begins what paw writes into the locks of worktrees it made.
const OwnerPrefix = "paw "

// OwnerOf is what paw writes into the lock of a worktree it made. The name of the
// session is for people: two users may have one of the same name in a repository.
func OwnerOf(s *session.Session, agentName string) string {
	return strings.TrimSpace(OwnerPrefix + s.Name + "/" + agentName + " " + s.ID)
}

// Conflict puts a refusal of the worktree package into the user's words.
func Conflict(err error) error {
	var c *worktree.ConflictError
	if !errors.As(err, &c) {
		return err
	}
	e := errs.New(errs.Failed, "%w", err)
	e.Instead = errs.Instead{Of: c.Branch, By: c.Free}
	if c.Hint != "" {
		return e.Hint("%s", c.Hint)
	}
	return e
}
