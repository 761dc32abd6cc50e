package worktree

import (
	"syscall"
	"time"
)

// statTimes are the times of the last change of a file's content and of its inode.
func statTimes(s *syscall.Stat_t) (mtime, ctime time.Time) {
	return time.Unix(s.Mtim.Unix()), time.Unix(s.Ctim.Unix())
}
