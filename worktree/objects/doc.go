// Package objects reads and writes the object store of a repository: commits, trees, merges, diffs
// and history. Nothing in it changes a ref of the repository, an index or a file of a worktree.
//
// Begin with Store.
package objects
