package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"paw/config/disk"
	"paw/config/poll"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// mountsAmong returns the mount points at or below path. Files of a mounted file system are not the
// worktree's: a rename would move them, and a deletion would delete them.
func mountsAmong(all []string, path string) []string {
	top := disk.Resolved(path)
	below := slices.DeleteFunc(slices.Clone(all), func(at string) bool { return at != top && !disk.Within(at, top) })
	slices.Sort(below)
	return slices.Compact(below)
}

// refuseMounts returns a *ConflictError if a file system is mounted in a directory.
func refuseMounts(path string) error {
	all, err := mountPoints()
	if err != nil {
		return fmt.Errorf("what is mounted below %s cannot be read: %w", path, err)
	}
	mounted := mountsAmong(all, path)
	if len(mounted) == 0 {
		return nil
	}
	return git.Conflict("", "umount "+git.Quote(mounted[0]), "%s: a file system is mounted at %s", path, mounted[0])
}

// checkVariable begins a variable in the environment of everything that a check starts; its value
// is the check's worktree.
const checkVariable = "PAW_CHECK="

// endLeftRunning kills the processes of a check at path whose paw was killed, and returns their
// PIDs: they would change what the next check tests. Processes left running by a completed check
// are kept.
func endLeftRunning(ctx context.Context, path string) []int {
	admin, err := gitdir.Target(filepath.Join(path, ".git"))
	if err != nil || !disk.Exists(runningMark(admin)) {
		return nil
	}
	left := processesWith(checkVariable + path)
	found := left
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, pid := range left {
			_ = syscall.Kill(pid, signal) // The process may be gone.
		}
		poll.Until(ctx, 20*time.Millisecond, commandPatience, func() bool {
			left = processesWith(checkVariable + path)
			return len(left) == 0
		})
	}
	_ = os.Remove(runningMark(admin))
	return found
}
