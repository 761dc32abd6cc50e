// Package landing brings the exact state of an agent into a branch of the user, and undoes that.
//
// A landing looks once at the agent (source.go) and at the branch (target.go), makes the commits in
// the object store (compose.go, message.go), and then moves branch and checkout (advance.go). The
// record says before what is about to happen, so that an interrupted landing can be finished
// (finish.go). Package landing never writes to an agent's worktree, index or HEAD, except in
// update.go. Begin with work.go, which all commands here share, and land.go.
//
// What branch and agent have in common is not what git says, because each landing counts as a
// merge: region.go builds that history (history.go) for an asker (asker.go), and incommon.go makes
// two commits of it that git can merge (sides.go).
package landing
