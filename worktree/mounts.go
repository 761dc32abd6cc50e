package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"paw/config/poll"
)

// mountsAmong returns the mount points at path or below path.
// What lies there is not the worktree's: a rename would take it along, and a
// deletion would empty it.
func mountsAmong(all []string, path string) []string {
	top := resolved(path)
	below := slices.DeleteFunc(slices.Clone(all), func(at string) bool { return at != top && !within(at, top) })
	slices.Sort(below)
	return slices.Compact(below)
}

// refuseMounts refuses to move a directory with something mounted in it.
func refuseMounts(path string) error {
	all, err := mountPoints()
	if err != nil {
		return fmt.Errorf("what is mounted below %s cannot be read: %w", path, err)
	}
	mounted := mountsAmong(all, path)
	if len(mounted) == 0 {
		return nil
	}
	return conflict("", "umount "+quote(mounted[0]), "%s: a file system is mounted at %s", path, mounted[0])
}

// quote makes a path one word of a shell's command line.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

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
