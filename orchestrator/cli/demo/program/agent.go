package program

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"paw/session/history"
)

// agent is one run of the demo CLI, with the directory it works in and the conversation it
// continues.
type agent struct {
	dir          string
	env          []string
	conversation *conversation

	// report is called with every event after it was recorded, in order and never concurrently; it
	// may block. nil means that no hook program listens.
	report func(Entry)
}

// message records a message of the user or the agent.
func (a *agent) message(role history.Role, content string) {
	a.conversation.append(Entry{Role: role, Content: content, Timestamp: time.Now().UTC()})
}

// emit records an event and reports it to the hook program.
func (a *agent) emit(e Entry) {
	e.Type, e.Turn, e.Timestamp = "event", a.conversation.turn, time.Now().UTC()
	line := e
	line.Prompt = ""
	a.conversation.append(line)
	if a.report != nil {
		a.report(e)
	}
}

// ignores reports whether s is the SIGHUP of a lost terminal that the agent is told to survive.
func (a *agent) ignores(s os.Signal) bool {
	return s == syscall.SIGHUP && lookup(a.env, "DEMO_IGNORE_HUP") == "1"
}

// childGrace is how long an interrupted child may clean up (git removes its locks), and how long
// paw waits for output of processes that a finished command left running.
const childGrace = time.Second

// git runs git and returns its output. Without a configured author the commits are by demo
// <demo@localhost>: git itself would guess one from the machine's name, or refuse.
func (a *agent) git(ctx context.Context, stdin string, args ...string) (string, error) {
	command := args[0]
	if command == "commit" {
		for key, fallback := range map[string]string{
			"user.name": "demo", "user.email": cmp.Or(lookup(a.env, "EMAIL"), "demo@localhost"),
		} {
			if _, err := a.child(ctx, "", "git", "config", "--get", key); err != nil {
				args = append([]string{"-c", key + "=" + fallback}, args...)
			}
		}
	}
	output, err := a.child(ctx, stdin, "git", args...)
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", command, err, output)
	}
	return output, err
}

// child runs a program in the agent's directory and returns its output, both streams together. The
// program gets a process group of its own, which is killed when ctx is cancelled.
func (a *agent) child(ctx context.Context, stdin, program string, args ...string) (string, error) {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = a.dir, a.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = childGrace
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // processes that ignored SIGTERM
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the command succeeded and left a process running
	}
	return strings.TrimRight(output.String(), "\n"), err
}
