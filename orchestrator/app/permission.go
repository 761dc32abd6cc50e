package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"paw/orchestrator/errs"
	"paw/session"
)

// RequireWritable refuses what would fail half-way because the agent that calls
// paw may not write everywhere: CLIs run commands in sandboxes of their own. It
// tries, since not every sandbox tells when it is asked. tmuxErr is why tmux did
// not answer, if paw needs it.
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

// OwnDirs are where paw keeps its own files.
func (h *App) OwnDirs() []string {
	return []string{filepath.Dir(h.Paths.SessionsDir), h.Paths.StateDir}
}

// tryToWrite makes a file in dir, or where dir will be made, and takes it away again.
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

// denied reports whether the system, and not the state of things, is against it.
func denied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS)
}

// reasonOf is the system's own word for what it does not allow.
func reasonOf(err error) string {
	var number unix.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return "operation not permitted"
}
