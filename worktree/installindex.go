package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"paw/config/poll"
)

// installIndex makes the scratch index the real one under git's own lock. It is
// as old as the begin of the rewind, so that git looks into every file that
// somebody may have changed since.
func (r *rewind) installIndex(ctx context.Context) error {
	content, err := os.ReadFile(r.scratch)
	if err != nil {
		return err
	}
	real := filepath.Join(r.admin, "index")
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(real); err == nil {
		mode = info.Mode().Perm()
	}
	lock, err := takeIndexLock(ctx, real+".lock", mode)
	if err != nil {
		return err
	}
	_, err = lock.Write(content)
	if closeErr := lock.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chtimes(lock.Name(), r.began, r.began)
	}
	if err == nil {
		err = os.Rename(lock.Name(), real)
	}
	if err != nil {
		os.Remove(lock.Name())
	}
	return err
}

func takeIndexLock(ctx context.Context, path string, mode fs.FileMode) (*os.File, error) {
	var file *os.File
	var err error
	taken := func() bool {
		file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		return !os.IsExist(err)
	}
	switch {
	case poll.Until(ctx, poll.Tick, refLockPatience, taken):
		return file, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%s: the index is locked", path)
}
