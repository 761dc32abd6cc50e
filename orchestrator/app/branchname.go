package app

import (
	"paw/session"
)

// BranchPrefix begins the names of branches that paw chooses itself.
const BranchPrefix = "paw/"

// AutomaticBranch returns the default branch of an agent.
func AutomaticBranch(sessionName, agentName string) string {
	return BranchPrefix + sessionName + "/" + agentName
}

// MadeByPaw reports whether paw made the agent's branch in this session or, by its name, in an
// earlier one of the same name.
func MadeByPaw(sessionName string, w session.Agent) bool {
	return w.BranchCreated || w.Branch == AutomaticBranch(sessionName, w.Name)
}
