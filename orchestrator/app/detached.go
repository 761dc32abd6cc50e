package app

import (
	"cmp"
	"context"
	"io"
	"os"
	"syscall"
	"time"

	"paw/config/poll"
)

// StartDetached starts paw with these arguments in a terminal session of its own, so that the end
// of a pane does not end it.
func (h *App) StartDetached(args []string) error { return h.detach(args, nil, nil) }

// HandOver starts paw like StartDetached, with stdin and with the file LetGo, and returns when that
// process has closed LetGo or has ended.
func (h *App) HandOver(args []string, stdin *os.File) error {
	goes, keeps, err := os.Pipe()
	if err != nil {
		return err
	}
	defer goes.Close()
	err = h.detach(args, stdin, keeps)
	keeps.Close()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, goes)
	return err
}

// StandBy starts paw like StartDetached, with a terminal as its standard input, and returns the
// writing end of a pipe that it reads as LetGo: the pipe closes when this process ends, even by a
// crash.
func (h *App) StandBy(args []string, terminal *os.File) (*os.File, error) {
	reads, writes, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reads.Close()
	if err := h.detach(args, terminal, reads); err != nil {
		writes.Close()
		return nil, err
	}
	return writes, nil
}

// LetGo is the file descriptor of the pipe between a process started by HandOver or StandBy and its
// starter.
const LetGo = 3

func (h *App) detach(args []string, stdin, letGo *os.File) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	files := []*os.File{cmp.Or(stdin, null), null, null}
	if letGo != nil {
		files = append(files, letGo)
	}
	process, err := os.StartProcess(h.Executable, append([]string{h.Executable}, args...), &os.ProcAttr{
		Dir: "/", Env: h.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
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
