package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// waits tells the user whose work is waited for, which has locked a file. What a hook has left behind is not: it lets go of
// nothing before it ends.
func (h *App) waits(where, path string) bool {
	holders := session.LockHolders(path)
	if len(holders) > 0 && !slices.ContainsFunc(holders, h.endsSoon) {
		return false
	}
	h.Notef("waiting for %s that is still at work in %s", h.holder(holders), where)
	return true
}

// busy words the refusal of what another process is at work at, which has locked a file. A paw is never to be killed: it may
// be at a question to its user. What git, or a hook of it, has left behind may be.
func (h *App) busy(where, path string) error {
	holders := session.LockHolders(path)
	e := errs.New(errs.Locked, "%s: %s is still at work here", where, h.holder(holders))
	if len(holders) > 0 {
		_ = e.Hint("ps -o pid,args -p %d", holders[0])
	}
	if len(holders) > 0 && !slices.ContainsFunc(holders, h.isPaw) {
		_ = e.Hint("kill %d", holders[0])
	}
	return e
}

// holder names the process of those that have locked a file which is known best.
func (h *App) holder(holders []int) string {
	for _, one := range []struct {
		is   func(pid int) bool
		name string
	}{{h.isPaw, "another paw"}, {isGit, "a git process"}, {func(int) bool { return true }, "a process that git or a hook of it has started"}} {
		if at := slices.IndexFunc(holders, one.is); at >= 0 {
			return fmt.Sprintf("%s (pid %d)", one.name, holders[at])
		}
	}
	return "another process"
}

func (h *App) endsSoon(pid int) bool { return isGit(pid) || h.isPaw(pid) }

func isGit(pid int) bool { return strings.HasPrefix(session.ProgramName(pid), "git") }

// isPaw reports whether a process runs this program.
func (h *App) isPaw(pid int) bool {
	name := session.ProgramName(pid)
	return name != "" && strings.HasPrefix(filepath.Base(h.Executable), name)
}

// unsettled words the refusal of a place where a move of files has not ended.
func (h *App) unsettled(e *worktree.MoveError) error {
	if e.Live {
		return h.busy(e.Path, e.Holder)
	}
	return errs.New(errs.Refused, "%w", e).Hint("%s", strings.TrimSpace("paw recover "+e.Session))
}

// staleLock is how old the lock of an index is that a git may have left behind which was killed.
const staleLock = 10 * time.Minute

// IndexLocked words the refusal of an index that another git has; again is the command to be tried when that is done.
func IndexLocked(locked *worktree.IndexLockedError, what, again string) error {
	e := errs.New(errs.Locked, "%s: %w", what, locked).Hint("%s", again)
	if info, err := os.Lstat(locked.Lock); err == nil && time.Since(info.ModTime()) > staleLock {
		_ = e.Hint("rm %s", errs.Quote(locked.Lock))
	}
	return e
}

// NewIndex is the line that makes the index anew which git could not read, "" when err says nothing of one. Files stay as they
// are, and what was staged is not staged any more.
func NewIndex(err error) string {
	checkout, file := worktree.CorruptIndex(err)
	if file == "" {
		return ""
	}
	return fmt.Sprintf("rm %s && git -C %s reset", errs.Quote(file), errs.Quote(checkout))
}

// Unmoved words why files did not move, under what says which; again is the command to be tried again when another git is done.
func Unmoved(err error, what, again string) error {
	var named *errs.Error
	var refused *worktree.ConflictError
	var half *worktree.HalfMovedError
	var locked *worktree.IndexLockedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &locked):
		return IndexLocked(locked, what, again)
	case errors.As(err, &half):
		return errs.New(errs.Failed, "%s: %w", what, err)
	case errors.As(err, &named):
		e := errs.New(named.Kind, "%s: %w", what, err)
		e.Hints = named.Hints
		return e
	case errors.As(err, &refused):
		e := errs.New(errs.Refused, "%s: %w", what, err)
		if refused.Hint != "" {
			return e.Hint("%s", refused.Hint)
		}
		return e
	case errors.Is(err, worktree.ErrBranchMoved):
		return errs.New(errs.Locked, "%s: %w meanwhile", what, err).Hint("%s", again)
	}
	return errs.New(errs.Failed, "%s: %w", what, err)
}
