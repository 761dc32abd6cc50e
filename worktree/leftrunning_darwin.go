package worktree

// processesWith is not known on macOS (docs/limitations.md).
func processesWith(string) []int { return nil }
