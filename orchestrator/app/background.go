package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"paw/config/poll"
)

// Background starts paw in processes that outlive their starter.
type Background struct {
	Executable string
	Env        []string
}

// Background returns the starter of processes of this paw.
func (h *App) Background() Background { return Background{h.Executable, h.Env} }

// Start starts paw with these arguments in a terminal session of its own, so that the end
// of a pane does not end it.
func (b Background) Start(args []string) error { return b.detach(args, nil, nil) }

// Detach starts paw in the background, for work that no hook and no command waits for. A failure is
// logged as one of the event: the next hook or command finds the work.
func (h *App) Detach(event string, args ...string) {
	start := h.Background().Start
	if h.Detached != nil {
		start = h.Detached
	}
	if err := start(args); err != nil {
		h.HookLog().Add("paw", event, err)
	}
}

// HandOver starts paw like Start, with stdin and with the file LetGo, and returns when that
// process has closed LetGo or has ended.
func (b Background) HandOver(args []string, stdin *os.File) error {
	goes, keeps, err := os.Pipe()
	if err != nil {
		return err
	}
	defer goes.Close()
	err = b.detach(args, stdin, keeps)
	keeps.Close()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, goes)
	return err
}

// LetGo is the file descriptor of the pipe between a process started by HandOver and its starter.
const LetGo = 3

func (b Background) detach(args []string, stdin, letGo *os.File) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	files := []*os.File{cmp.Or(stdin, null), null, null}
	if letGo != nil {
		files = append(files, letGo)
	}
	process, err := os.StartProcess(b.Executable, append([]string{b.Executable}, args...), &os.ProcAttr{
		Dir: "/", Env: b.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	go process.Wait() //nolint:errcheck // where paw lives on, it leaves no zombie
	return nil
}

// hookEndPatience bounds how long a process waits for the hook that started it.
const hookEndPatience = 10 * time.Second

// AwaitHook waits until the process hook, which started this one, has ended.
func AwaitHook(ctx context.Context, hook int) {
	poll.Until(ctx, poll.Tick/2, hookEndPatience, func() bool { return hook == 0 || os.Getppid() != hook })
}

// HookFailure is one line of the log of failed hooks.
type HookFailure struct {
	At     time.Time `json:"at"`
	Launch string    `json:"launch"` // of the agent that ran the hook, "" for none
	CLI    string    `json:"cli"`
	Event  string    `json:"event"`
	Error  string    `json:"error"`
}

// HookLog is the log of failed hooks.
type HookLog struct {
	Path string
	app  *App
}

// HookLog returns the log of failed hooks.
func (h *App) HookLog() HookLog {
	return HookLog{filepath.Join(h.Paths.StateDir, "hooks.log"), h}
}

// maxHookLog is the size in bytes at which the log becomes hooks.log.old, replacing the one before.
const maxHookLog = 1 << 20

// Add logs a failed hook; a hook has no way to tell the user.
func (l HookLog) Add(cliName, event string, cause error) {
	line, err := json.Marshal(HookFailure{At: l.app.Now().UTC(), Launch: l.app.Getenv("PAW_LAUNCH"), CLI: cliName, Event: event, Error: cause.Error()})
	if err != nil {
		return
	}
	if info, err := os.Lstat(l.Path); err == nil && info.Size() > maxHookLog {
		_ = os.Rename(l.Path, l.Path+".old")
	}
	f, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}

// Logged returns the error of work in the background, and writes it to the log of hooks under the
// name of the event. The error that a session does not exist any more is dropped.
func (h *App) Logged(event string, err error) error {
	err = UnlessGone(err)
	if err != nil {
		h.HookLog().Add("paw", event, err)
	}
	return err
}

// Failures counts the logged failures and returns the last one. Those of sessions that do not
// exist any more are skipped.
func (l HookLog) Failures() (count int, last HookFailure) {
	for _, path := range []string{l.Path + ".old", l.Path} {
		content, _ := os.ReadFile(path)
		for line := range bytes.Lines(content) {
			var one HookFailure
			if json.Unmarshal(line, &one) == nil && l.concerns(one) {
				count, last = count+1, one
			}
		}
	}
	return count, last
}

// concerns reports whether a failed hook may belong to an existing session: one that was created
// later under the same name is another.
func (l HookLog) concerns(one HookFailure) bool {
	name, _, launched := strings.Cut(one.Launch, "/")
	if !launched {
		return true // logged by a command of the user
	}
	s, err := l.app.Store.Load(name)
	return err != nil || s != nil && !one.At.Before(s.CreatedAt)
}
