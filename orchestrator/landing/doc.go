// Package landing brings the exact state of an agent into a branch of the user's, and takes it back.
//
// A landing looks once at the agent (source.go) and at the branch (target.go), makes the commits in the object store
// (compose.go, with a message from the turns, message.go), and only then moves branch and checkout (advance.go): the record
// says first what is about to happen, so that whoever comes next finishes it (finish.go). Nothing here ever writes to an
// agent's worktree, index or HEAD. A new reader begins with work.go, which has what every command here asks, and land.go.
package landing
