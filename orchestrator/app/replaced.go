package app

import (
	"context"
	"errors"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Replaced reports whether another repository is where the session's was, as after it was deleted and cloned
// again: it knows none of the worktrees that are still there, and has no branch and no hidden ref of the agents. A
// repository that cannot be read counts as the session's own.
func Replaced(s *session.Session) bool {
	unknown, prefixes := false, []string{}
	for _, w := range s.Agents {
		_, err := gitdir.Linked(w.WorktreePath, s.GitCommonDir, "")
		if err == nil {
			return false
		}
		if other, ok := errors.AsType[*gitdir.MismatchError](err); ok && other.What == "registration" {
			unknown = true
		}
		if prefixes = append(prefixes, turn.RefPrefix(w.TurnSession)); w.BranchCreated {
			prefixes = append(prefixes, "refs/heads/"+w.Branch)
		}
	}
	if !unknown || !gitdir.Is(s.GitCommonDir) {
		return false
	}
	repository, err := Discover(s)
	if err != nil {
		return false
	}
	found, err := (&worktree.Manager{Repository: repository}).Refs().List(context.Background(), prefixes...)
	return err == nil && len(found) == 0
}
