// Command paw runs several AI coding CLIs side by side on one repository: one
// git branch, worktree and tmux pane each.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"paw/orchestrator/app"
	"paw/orchestrator/cli/acp"
	"paw/orchestrator/cli/demo/program"
	"paw/orchestrator/errs"
)

func main() {
	os.Exit(run(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// run runs paw with its arguments and environment, and returns the exit code.
func run(argv, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	command := strings.Join(argv[1:min(2, len(argv))], "")
	if command != "__agent" && command != "__acp" { // these pass their lock on to the CLI
		closeOnExec()
	}
	switch command {
	case "demo-agent": // a program of its own, which handles signals and its terminal itself
		return program.Main(argv[2:], stdin, stdout, stderr, env)
	case "__acp":
		return acp.Main(argv[2:], stdin, stdout, stderr, env)
	case onCommand:
		return answer(argv, env, stdin, stdout, stderr, run)
	}
	// Most commands end before a garbage collection would pay, and the others use little memory.
	debug.SetGCPercent(400)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := remembering(stdout)
	a := &invocation{stdin: stdin, typed: argv[1:], printer: printer{stdout: out, stderr: stderr, env: env}}
	interrupted := handleSignals(command, cancel, a)
	switch command { // run for each agent or turn, so without the tree of commands
	case "__agent":
		return a.launcher(argv[2:])
	case "hook":
		a.hook(ctx, argv[2:])
		return 0
	case "__hook":
		a.handedHook(ctx, argv[2:])
		return 0
	}
	root := newRoot(a, command)
	if filepath.Base(argv[0]) == "git-paw" {
		root.Annotations = map[string]string{"cobra_annotation_command_display_name": "git paw"}
	}
	root.SetArgs(argv[1:])
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := app.MissingProgram(root.ExecuteContext(ctx))
	if err == nil {
		err = a.helpFailed
	}
	if file, is := out.(*written); err == nil && is {
		err = file.failed
	}
	select {
	case <-interrupted:
		if err != nil {
			return a.interrupted(err)
		}
	default:
	}
	return a.ended(err, stdout)
}

// ended prints the error of a command, and returns the exit code.
func (a *invocation) ended(err error, stdout io.Writer) int {
	switch {
	case err == nil:
		return 0
	case readerLeft(stdout, err):
		return exitPipe
	}
	a.json = a.json || a.ran == nil && asksJSON(a.typed)
	a.printError(err)
	return exitCode(err)
}

// interrupted prints the error of a command that a signal has ended, and returns the exit code.
func (a *invocation) interrupted(err error) int {
	var said *errs.Error
	if errors.Is(err, context.Canceled) && !errors.As(err, &said) { // the name of the program that ran says nothing to the user
		err = &errs.Error{Kind: errs.Failed, Message: "interrupted", Hints: []string{"paw status"}}
	}
	if a.command != "wait" { // wait has changed nothing
		a.printError(err)
	}
	return exitInterrupted
}

// readerLeft reports whether SIGPIPE ended a program that wrote to paw's standard output, because the
// pipe has no reader any more, as behind "| head".
func readerLeft(stdout io.Writer, err error) bool {
	var ended interface { // an *exec.ExitError
		error
		Sys() any
	}
	if !errors.As(err, &ended) {
		return false
	}
	status, is := ended.Sys().(syscall.WaitStatus)
	pipe, file := stdout.(*os.File)
	if !is || !file || !status.Signaled() || status.Signal() != syscall.SIGPIPE {
		return false
	}
	out := []unix.PollFd{{Fd: int32(pipe.Fd()), Events: unix.POLLOUT}}
	_, err = unix.Poll(out, 0)
	return err == nil && out[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}

// oneInterrupt is the time within which two signals count as one interrupt: timeout(1) signals its
// child and then the child's process group.
const oneInterrupt = 100 * time.Millisecond

// handleSignals sets how signals act on this process. Signals kill a launcher, like the CLI that it
// will become. A hook has to write down a turn, so the end of its terminal must not end it. Every
// other command is interrupted.
func handleSignals(command string, cancel context.CancelFunc, a *invocation) <-chan struct{} {
	switch command {
	case "__agent":
		return nil
	case "hook", "__hook":
		signal.Ignore(os.Interrupt, syscall.SIGHUP)
		return nil
	}
	return watchInterrupts(cancel, a)
}

// watchInterrupts cancels the context on the first Ctrl-C, so that the command can undo its work or
// leave what paw recover finishes, and ends paw on the second. During a headless turn the second
// only kills the CLI, and the turn is written down. Signals that paw was started to ignore, as by
// nohup, stay ignored.
func watchInterrupts(cancel context.CancelFunc, a *invocation) <-chan struct{} {
	heeded := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	interrupted := make(chan struct{})
	if len(heeded) == 0 {
		return interrupted // signal.Notify without signals means all of them
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, heeded...)
	go func() {
		<-signals
		first := time.Now()
		close(interrupted)
		cancel()
		for range signals {
			if time.Since(first) < oneInterrupt {
				continue
			}
			if kill := a.killTurn.Load(); kill != nil {
				(*kill)()
				continue
			}
			if do := a.beforeExit.Load(); do != nil {
				(*do)()
			}
			os.Exit(exitInterrupted)
		}
	}()
	return interrupted
}

// closeOnExec keeps the files that paw has inherited from the programs that paw starts. If an agent
// runs paw, one of these files is the agent's lock, which a daemon started by a set-up command or a
// git hook would keep. A tmux server would keep all files of the paw that started it.
func closeOnExec() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(filepath.Base(entry.Name())); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
