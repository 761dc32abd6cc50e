// Package worktree makes, inspects, saves and removes the git worktrees that
// agents work in, and their branches. It knows nothing of sessions or tmux.
//
// One invariant holds throughout: nothing here deletes a byte that is not in a
// commit some ref keeps; what is in the way is moved into <common dir>/paw/trash.
package worktree
