package session

import "golang.org/x/sys/unix"

// Members tells on macOS whether the process group of leader has a living process: those of other groups are not known
// (docs/limitations.md).
func Members(leader int) []int {
	if unix.Kill(-leader, 0) != nil {
		return nil
	}
	return []int{-leader}
}
