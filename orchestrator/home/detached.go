package home

import (
	"context"
	"os"
	"syscall"
	"time"
)

// StartDetached starts paw with these arguments in a session of its own, so that
// the end of a pane does not end it.
func (h *Home) StartDetached(args []string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	process, err := os.StartProcess(h.Executable, append([]string{h.Executable}, args...), &os.ProcAttr{
		Dir: "/", Env: h.Env, Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	go process.Wait() //nolint:errcheck // where paw lives on, it leaves no zombie
	return nil
}

// hookEndPatience bounds how long a process waits for the hook that started it.
const hookEndPatience = 10 * time.Second

// AwaitHook waits until the hook that started this process has ended.
func AwaitHook(ctx context.Context, hook int) {
	Poll(ctx, Tick/2, hookEndPatience, func() bool { return hook == 0 || os.Getppid() != hook })
}
