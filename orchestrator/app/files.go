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

	"paw/config/disk"
	"paw/orchestrator/errs"
	"paw/session"
)

// Files with text of the user that no agent has got yet: the first prompt until the agent's launch,
// and below StateDir what was written for a running agent. The text exists nowhere else.
const (
	commentsName = "review.json"
	draftName    = "draft.txt"
)

// keptTexts are the patterns given to KeepText, by which its files are found again.
var keptTexts = []string{"message-*.txt", "review-*.diff"}

// PromptPath returns the file of an agent's first prompt, which exists until the first launch.
func (h *App) PromptPath(session, agent string) string {
	return filepath.Join(h.Paths.LaunchDir(), session, agent+".prompt")
}

// CommentsPath returns the file of comments on an agent's work that were not sent yet.
func (h *App) CommentsPath(session, agent string) string {
	return filepath.Join(h.StateDir(session, agent), commentsName)
}

// KeepText writes text that the user wrote for a command that failed into a new file of an agent,
// and returns its name. pattern is one of keptTexts, for os.CreateTemp.
func (h *App) KeepText(session, agent, pattern, text string) (string, error) {
	f, err := os.CreateTemp(h.StateDir(session, agent), pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}

// Draft returns the unsent prompt for an agent, "" for none.
func (h *App) Draft(session, agent string) string {
	text, _ := os.ReadFile(filepath.Join(h.StateDir(session, agent), draftName))
	return string(text)
}

// KeepDraft saves an unsent prompt for an agent; an empty text deletes it.
func (h *App) KeepDraft(session, agent, text string) error {
	path := filepath.Join(h.StateDir(session, agent), draftName)
	if strings.TrimSpace(text) == "" {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return disk.Replace(path, []byte(text))
}

// Words returns the files with text of the user that an agent never got.
func (h *App) Words(session, agent string) []string {
	var found []string
	add := func(path string) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			found = append(found, path)
		}
	}
	add(h.PromptPath(session, agent))
	add(h.CommentsPath(session, agent))
	add(filepath.Join(h.StateDir(session, agent), draftName))
	for _, one := range h.QueuedPrompts(session, agent) {
		add(one.Path)
	}
	for _, pattern := range keptTexts {
		texts, _ := filepath.Glob(filepath.Join(h.StateDir(session, agent), pattern))
		for _, path := range texts {
			add(path)
		}
	}
	return found
}

// StrayPrompts returns the names of agents with a saved first prompt and no entry in the record:
// the paw that was adding them was killed.
func (h *App) StrayPrompts(session string, known []string) []string {
	var agents []string
	prompts, _ := filepath.Glob(h.PromptPath(session, "*"))
	for _, path := range prompts {
		if agent := strings.TrimSuffix(filepath.Base(path), ".prompt"); !slices.Contains(known, agent) {
			agents = append(agents, agent)
		}
	}
	return agents
}

// SetWordsAside moves text of the user that an agent never got to a folder from which paw deletes
// nothing, and returns that folder, "" where there is no such text.
func (h *App) SetWordsAside(session, agent string) (folder string, err error) {
	words := h.Words(session, agent)
	if len(words) == 0 {
		return "", nil
	}
	folder = filepath.Join(h.Paths.StateDir, "kept", session+"_"+agent, h.Now().UTC().Format("20060102T150405.000Z"))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	for _, path := range words {
		to := filepath.Join(folder, filepath.Base(path))
		if err := os.Rename(path, to); err != nil {
			return folder, errs.New(errs.Refused, "%s: what you wrote for it could not be kept: %w", agent, err).Hint("cat %s", errs.Quote(path))
		}
	}
	return folder, nil
}

// SetQueueAside moves the queue of a session with its prompts to a folder from which paw deletes
// nothing, and returns that folder; a queue without open prompts is deleted.
func (h *App) SetQueueAside(session string) (folder string, err error) {
	from := h.Queues().Folder(session)
	if !h.Queues().Open(session) {
		return "", os.RemoveAll(from)
	}
	folder = filepath.Join(h.Paths.StateDir, "kept", session, "queue-"+h.Now().UTC().Format("20060102T150405.000Z"))
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return "", err
	}
	return folder, os.Rename(from, folder)
}

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
