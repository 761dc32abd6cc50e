package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/refs"
)

// staleLock is the age at which a lock file of git is taken for the leftover of a killed git, whichever run, and
// lockDelay by how much the times of a file and of a process may be apart.
const (
	staleLock = 10 * time.Minute
	lockDelay = time.Second
)

// left reports whether a lock file was left by a git that was killed: no git runs any more that could have made it.
func left(lock string) bool {
	info, err := os.Lstat(lock)
	if err != nil {
		return false
	}
	return time.Since(info.ModTime()) > staleLock || !session.RanBefore("git", info.ModTime().Add(lockDelay))
}

// LeftLocks returns the rm command for the lock file because of which git failed with err, if a killed git has left
// it; "" for other errors. A git that is killed in a transaction leaves a lock for each ref: where the file is such a
// one, the command names all that were left in the repository.
func LeftLocks(err error) string {
	if locked, ok := errors.AsType[*worktree.IndexLockedError](err); ok {
		return removal([]string{locked.Lock})
	}
	if locked, ok := errors.AsType[*refs.LockedError](err); ok {
		if line := removal([]string{locked.File}); line == "" {
			return ""
		}
		return LeftIn(locked.CommonDir)
	}
	return removal([]string{refs.LockInTheWay(err)})
}

// LeftIn returns the command that removes the locks of refs and indexes that killed gits have left in a repository, ""
// for none.
func LeftIn(commonDir string) string {
	locks := []string{filepath.Join(commonDir, "packed-refs.lock")}
	places, _ := filepath.Glob(filepath.Join(commonDir, "worktrees", "*"))
	for _, admin := range append(places, commonDir) {
		locks = append(locks, filepath.Join(admin, "HEAD.lock"), filepath.Join(admin, "index.lock"))
	}
	_ = filepath.WalkDir(filepath.Join(commonDir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			locks = append(locks, path)
		}
		return nil
	})
	return removal(locks)
}

func removal(locks []string) string {
	line := ""
	for _, lock := range locks {
		if lock != "" && left(lock) {
			line += " " + errs.Quote(lock)
		}
	}
	if line == "" {
		return ""
	}
	return "rm" + line
}
