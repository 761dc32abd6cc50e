// Package journal reads what a move of files, index and HEAD has written down about itself, so that
// nobody takes a half-moved worktree for what somebody has written.
package journal
