// Package snapshot saves the files of a worktree in a commit, without touching the worktree: with a
// private copy of its index, which is kept for the next snapshot.
//
// Begin with Taker; a Look says what differs from HEAD, for whoever moves files.
package snapshot
