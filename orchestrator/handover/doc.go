// Package handover writes the first prompt of an agent that takes over from another one: what that one had done, and what
// was said until then, with its paths as those of the new worktree.
//
// It is pure: it imports sessions, turns and histories, and reads nothing. Begin with Brief and Build.
package handover
