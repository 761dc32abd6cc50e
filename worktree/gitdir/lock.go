package gitdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"paw/config/disk"
	"paw/config/poll"
)

// Waiting locks files that others hold briefly. Waits is called once if the lock stays held, and
// returns false if waiting is useless; Busy makes the error when it is held for too long.
type Waiting struct {
	Waits func(path string) bool
	Busy  func(path string) error
}

// Await locks the file at path within patience, and calls Waits if the lock stays held. The file is
// created if missing and never removed. The lock ends when the file is closed here and in every child
// that has inherited it.
func (w Waiting) Await(ctx context.Context, path string, patience time.Duration) (*os.File, error) {
	file, err := OpenLock(path)
	if err != nil {
		return nil, err
	}
	locked, err := TryLock(ctx, file, min(patience, registryChange))
	more := patience - registryChange
	if !locked && err == nil && ctx.Err() == nil && more > 0 && (w.Waits == nil || w.Waits(path)) {
		locked, err = TryLock(ctx, file, more)
	}
	if locked {
		return file, nil
	}
	file.Close()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w: %w", path, ErrBusy, ctx.Err())
	case w.Busy != nil:
		return nil, w.Busy(path)
	}
	return nil, fmt.Errorf("%s: %w", path, ErrBusy)
}

// registryChange is longer than a usual change of the registry takes.
const registryChange = time.Second

// LockWait limits the wait for a git whose paw was killed, and for others that are about to land,
// each of which takes seconds. LockWait is a variable so that tests can shorten it.
var LockWait = time.Minute

// RegistryWait limits the wait for a change of the registry or a move of files. RegistryWait is a
// variable so that tests can shorten it.
var RegistryWait = 10 * time.Second

// ErrBusy says that a git started by an earlier paw is still running.
var ErrBusy = errors.New("a git process is still at work here")

// TryLock retries to lock an open file until patience has passed.
func TryLock(ctx context.Context, file *os.File, patience time.Duration) (locked bool, err error) {
	poll.Until(ctx, poll.Tick, patience, func() bool {
		locked, err = disk.TryLock(file)
		return locked || err != nil
	})
	return locked, err
}

// OpenLock opens a lock file, and makes it if it is missing.
func OpenLock(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
}
