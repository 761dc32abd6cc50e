package gitdir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A file system that has no locks to give, such as one of NFS without its daemon, is told at once: only the lock of somebody else is
// waited for.
func TestFileThatCannotBeLockedIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0) // flock(2) fails for it
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = TryLock(t.Context(), os.NewFile(uintptr(fd), path), LockWait)
	if !errors.Is(err, unix.EBADF) || errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > LockWait/2 {
		t.Errorf("it took %s", took)
	}
}
