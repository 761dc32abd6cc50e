package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree/journal"
)

// RequireWritable refuses a command that would fail half-way because the sandbox of the calling
// agent forbids paw to write. It tries to write, since not every sandbox answers access(2) truly.
// tmuxErr is the error of tmux, if paw needs tmux.
func RequireWritable(w *session.Agent, dirs []string, tmuxErr error, socket string) error {
	var shut []string
	var cause error
	for _, dir := range dirs {
		if err := tryToWrite(dir); denied(err) {
			shut = append(shut, dir)
			cause = err
		}
	}
	var what []string
	if len(shut) > 0 {
		what = append(what, fmt.Sprintf("write %s (%s)", strings.Join(shut, ", "), reasonOf(cause)))
	}
	if denied(tmuxErr) {
		what = append(what, fmt.Sprintf("reach the tmux socket %s (%s)", socket, reasonOf(tmuxErr)))
	}
	if len(what) == 0 {
		return nil
	}
	return errs.New(errs.Failed, "%s: paw cannot %s; if %s runs commands in a sandbox, that has to allow it",
		w.Name, strings.Join(what, ", nor "), w.CLI).Hint("paw help agents")
}

// OwnDirs returns the folders where paw keeps its own files.
func (h *App) OwnDirs() []string {
	return []string{filepath.Dir(h.Paths.SessionsDir), h.Paths.StateDir}
}

// tryToWrite creates and deletes a file in dir, or in the nearest parent that exists.
func tryToWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".paw-*")
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		return tryToWrite(parent)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return os.Remove(f.Name())
}

// denied reports whether the system forbade the operation.
func denied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS)
}

// reasonOf returns the system's message for a forbidden operation.
func reasonOf(err error) string {
	if number, ok := errors.AsType[unix.Errno](err); ok {
		return number.Error()
	}
	return "operation not permitted"
}

// Unwritable returns the first folder that this process can neither write nor create, and the
// reason; "" when there is none. It creates nothing.
func Unwritable(folders ...string) (folder string, cause error) {
	for _, folder := range folders {
		if unix.Access(folder+"/.", unix.W_OK|unix.X_OK) == nil {
			continue
		}
		there := folder
		info, err := os.Stat(there)
		for ; errors.Is(err, fs.ErrNotExist) && there != filepath.Dir(there); info, err = os.Stat(there) {
			there = filepath.Dir(there)
		}
		switch {
		case err != nil:
		case !info.IsDir():
			err = unix.ENOTDIR
		default:
			err = unix.Access(there, unix.W_OK|unix.X_OK)
		}
		if err != nil {
			return folder, err
		}
	}
	return "", nil
}

// once runs ask, which checks whether a program is usable, unless the file on PATH is the one that
// passed the check before. A failed check is always repeated: the user has been told what to do.
func (h *App) once(program string, ask func() error) error {
	mark, kept := markOf(program), filepath.Join(h.Paths.StateDir, "usable-"+program)
	if known, err := os.ReadFile(kept); err == nil && mark != "" && string(known) == mark {
		return nil
	}
	err := ask()
	if err == nil && mark != "" && !h.DryRun && os.MkdirAll(h.Paths.StateDir, 0o700) == nil {
		_ = os.WriteFile(kept, []byte(mark), 0o600) // a torn mark matches nothing
	}
	return err
}

// markOf identifies the file of a program, and the versions that this paw needs; "" where that is
// impossible.
func markOf(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s\n%d %d %d %d\n%d.%d %d.%d\n", path, stat.Dev, stat.Ino, info.Size(), info.ModTime().UnixNano(),
		gitMajor, gitMinor, tmuxMajor, tmuxMinor)
}

// lockHolders tells which processes hold the locks that a worktree manager waits for.
type lockHolders struct {
	paw   string                           // file name of this program
	note  func(format string, args ...any) // reports what is waited for
	store session.Store
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

// endsSoon reports whether a process is a git or a paw, or has ended already.
func (l lockHolders) endsSoon(pid int) bool {
	return session.ProgramName(pid) == "" || isGit(pid) || l.isPaw(pid)
}

func isGit(pid int) bool { return strings.HasPrefix(session.ProgramName(pid), "git") }

// isPaw reports whether a process runs this program.
func (l lockHolders) isPaw(pid int) bool {
	name := session.ProgramName(pid)
	return name != "" && strings.HasPrefix(l.paw, name)
}

// unsettled returns the error for a checkout in which another paw moves files, or was killed while
// it moved them; its hint is paw recover.
func (l lockHolders) unsettled(e *journal.MoveError) error {
	if e.Live {
		return l.busy(e.Path, e.Holder)
	}
	refused := errs.New(errs.Refused, "%w", e)
	if e.Session == "" {
		return refused.Hint("paw recover")
	}
	if l.store.Unreadable(e.Session) != nil { // recover NAME refuses such a session; the moves of a repository end with any
		return refused.Hint("paw recover --all")
	}
	if s, err := l.store.Load(e.Session); err == nil && s != nil {
		for _, w := range s.Agents {
			if w.WorktreePath == e.Path {
				return refused.Hint("paw recover %s/%s", s.Name, w.Name)
			}
		}
	}
	return refused.Hint("paw recover %s", e.Session)
}
