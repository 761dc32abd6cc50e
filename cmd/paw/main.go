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
	"strings"
	"syscall"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli/demo/program"
	"paw/orchestrator/errs"
)

func main() {
	os.Exit(run(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// run is paw as a function of its arguments and environment; it returns the exit code.
func run(argv, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if command := strings.Join(argv[1:min(2, len(argv))], ""); command != "__agent" { // which hands its lock on to the CLI
		closeOnExec()
	}
	// The built-in agent is a program of its own: it handles signals and its
	// terminal itself.
	if len(argv) > 1 && argv[1] == "demo-agent" {
		return program.Main(argv[2:], stdin, stdout, stderr, env)
	}
	if len(argv) > 1 && argv[1] == onCommand {
		return answer(argv, env, stdin, stdout, stderr)
	}
	// Most commands end before a collection would pay; those that stay stay small.
	debug.SetGCPercent(400)
	command := ""
	if len(argv) > 1 {
		command = argv[1]
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a := &invocation{stdin: stdin, typed: argv[1:], printer: printer{stdout: stdout, stderr: stderr, env: env}}
	interrupted := handleSignals(command, cancel, a)
	switch command { // that somebody waits for, once for each agent or turn: these need no tree of commands
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
	if err == nil {
		return 0
	}
	select {
	case <-interrupted:
		var said *errs.Error
		if errors.Is(err, context.Canceled) && !errors.As(err, &said) { // which program was at work says nothing to the user
			err = &errs.Error{Kind: errs.Failed, Message: "interrupted", Hints: []string{"paw status"}}
		}
		if a.command != "wait" { // which has changed nothing
			a.printError(err)
		}
		return exitInterrupted
	default:
	}
	a.printError(err)
	return exitCode(err)
}

// exitInterrupted is the exit code after Ctrl-C, 128 + SIGINT as shells count it.
const exitInterrupted = 130

// oneInterrupt is how far apart signals are that mean the same interrupt: timeout(1)
// signals its child and then the child's process group.
const oneInterrupt = 100 * time.Millisecond

// handleSignals decides what signals mean for this paw. A launcher must die of
// them like the CLI it is about to become; a hook has a turn to write down, which
// the end of its terminal must not cut; everything else is interrupted.
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

// watchInterrupts cancels the work on the first Ctrl-C, so that it can be undone
// or left recoverable, and ends paw on the second. A headless turn is closed
// however many come: the second only kills its CLI. What paw was started to ignore,
// as by nohup, stays ignored.
func watchInterrupts(cancel context.CancelFunc, a *invocation) <-chan struct{} {
	heeded := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	interrupted := make(chan struct{})
	if len(heeded) == 0 {
		return interrupted // Notify without signals means all of them
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
