package app

import (
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree/journal"
)

// lockHolders tells which processes hold the locks that a worktree manager waits for.
type lockHolders struct {
	paw        string                           // file name of this program
	note       func(format string, args ...any) // reports what is waited for
	unreadable func(sessionName string) bool    // the record of a session is there and cannot be read
}

// waits tells the user which process holds a locked file, and reports whether waiting for it makes
// sense. Waiting for a leftover of a hook does not: it keeps the lock until it ends.
func (l lockHolders) waits(where, path string) bool {
	holders := session.LockHolders(path)
	if len(holders) > 0 && !slices.ContainsFunc(holders, l.endsSoon) {
		return false
	}
	l.note("waiting for %s that is still at work in %s", l.holder(holders), where)
	return true
}

// busy returns the refusal for a locked file. It never suggests to kill a paw, which may be waiting
// for its user's answer; it does for git, or a leftover of a hook.
func (l lockHolders) busy(where, path string) error {
	holders := session.LockHolders(path)
	e := errs.New(errs.Locked, "%s: %s is still at work here", where, l.holder(holders))
	if len(holders) > 0 {
		_ = e.Hint("ps -o pid,args -p %d", holders[0])
	}
	if len(holders) > 0 && !slices.ContainsFunc(holders, l.isPaw) {
		_ = e.Hint("kill %d", holders[0])
	}
	return e
}

// holder names the best known process among the holders of a lock.
func (l lockHolders) holder(holders []int) string {
	for _, one := range []struct {
		is   func(pid int) bool
		name string
	}{{l.isPaw, "another paw"}, {isGit, "a git process"}, {func(int) bool { return true }, "a process that git or a hook of it has started"}} {
		if at := slices.IndexFunc(holders, one.is); at >= 0 {
			return fmt.Sprintf("%s (pid %d)", one.name, holders[at])
		}
	}
	return "another process"
}

func (l lockHolders) endsSoon(pid int) bool { return isGit(pid) || l.isPaw(pid) }

func isGit(pid int) bool { return strings.HasPrefix(session.ProgramName(pid), "git") }

// isPaw reports whether a process runs this program.
func (l lockHolders) isPaw(pid int) bool {
	name := session.ProgramName(pid)
	return name != "" && strings.HasPrefix(l.paw, name)
}

// unsettled returns the refusal for a place where a move of files has not ended.
func (l lockHolders) unsettled(e *journal.MoveError) error {
	if e.Live {
		return l.busy(e.Path, e.Holder)
	}
	if e.Session != "" && l.unreadable(e.Session) { // recover NAME refuses such a session; the moves of a repository end with any
		return errs.New(errs.Refused, "%w", e).Hint("paw recover --all")
	}
	return errs.New(errs.Refused, "%w", e).Hint("%s", strings.TrimSpace("paw recover "+e.Session))
}
