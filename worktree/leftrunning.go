package worktree

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"paw/config/poll"
)

// checkVariable is in the environment of all that a check starts, with the place where it runs.
const checkVariable = "PAW_CHECK="

// endLeftRunning ends what a check has left running at path whose paw was killed, and returns the processes. It would write into what the
// next check looks at. What a check that came to its end has left running is meant to go on.
func endLeftRunning(ctx context.Context, path string) []int {
	admin, err := readGitFile(filepath.Join(path, ".git"))
	if err != nil || !exists(runningMark(admin)) {
		return nil
	}
	left := processesWith(checkVariable + path)
	found := left
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, pid := range left {
			_ = syscall.Kill(pid, signal) // it may be gone
		}
		poll.Until(ctx, 20*time.Millisecond, commandPatience, func() bool {
			left = processesWith(checkVariable + path)
			return len(left) == 0
		})
	}
	_ = os.Remove(runningMark(admin))
	return found
}
