package disk

import (
	"syscall"
	"time"
)

// StatTimes returns a file's modification time, and the change time of its inode.
func StatTimes(s *syscall.Stat_t) (mtime, ctime time.Time) {
	return time.Unix(s.Mtimespec.Unix()), time.Unix(s.Ctimespec.Unix())
}
