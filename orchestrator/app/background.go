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

// StandBy starts paw like Start, with a terminal as its standard input, and returns the
// writing end of a pipe that it reads as LetGo: the pipe closes when this process ends, even by a
// crash.
func (b Background) StandBy(args []string, terminal *os.File) (*os.File, error) {
	reads, writes, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reads.Close()
	if err := b.detach(args, terminal, reads); err != nil {
		writes.Close()
		return nil, err
	}
	return writes, nil
}

// LetGo is the file descriptor of the pipe between a process started by HandOver or StandBy and its
// starter.
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
