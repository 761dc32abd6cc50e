package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"paw/orchestrator/errs"
	"paw/session"
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
	var number unix.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return "operation not permitted"
}

// Unwritable returns the first folder that this process can neither write nor create, and the
// reason; "" when there is none. It creates nothing.
func Unwritable(folders ...string) (folder string, cause error) {
	for _, folder := range folders {
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
	if err == nil && mark != "" && os.MkdirAll(h.Paths.StateDir, 0o700) == nil {
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
