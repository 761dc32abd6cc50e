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
	"syscall"

	"paw/orchestrator"
	"paw/orchestrator/agent/demo"
)

// exitInterrupted is the exit code after Ctrl-C, 128 + SIGINT as shells count it.
const exitInterrupted = 130

func main() {
	os.Exit(run(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// run is paw as a function of its arguments and environment; it returns the exit code.
func run(argv, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// The built-in agent is a program of its own: it handles signals and its
	// terminal itself.
	if len(argv) > 1 && argv[1] == "demo-agent" {
		return demo.Main(argv[2:], stdin, stdout, stderr, env)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, env: env}
	interrupted := handleSignals(argv, cancel, a)
	root := newRoot(a)
	if filepath.Base(argv[0]) == "git-paw" {
		root.Annotations = map[string]string{"cobra_annotation_command_display_name": "git paw"}
	}
	root.SetArgs(argv[1:])
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	select {
	case <-interrupted:
		a.printError(err)
		return exitInterrupted
	default:
	}
	a.printError(err)
	return exitCode(err)
}

// handleSignals decides what signals mean for this paw. A launcher must die of
// them like the CLI it is about to become; a hook has a turn to write down, which
// the end of its terminal must not cut; everything else is interrupted.
func handleSignals(argv []string, cancel context.CancelFunc, a *app) <-chan struct{} {
	command := ""
	if len(argv) > 1 {
		command = argv[1]
	}
	switch command {
	case "__agent":
		return nil
	case "hook":
		signal.Ignore(os.Interrupt, syscall.SIGHUP)
		return nil
	}
	return watchInterrupts(cancel, a)
}

// watchInterrupts cancels the work on the first Ctrl-C, so that it can be undone
// or left recoverable, and ends paw on the second.
func watchInterrupts(cancel context.CancelFunc, a *app) <-chan struct{} {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	interrupted := make(chan struct{})
	go func() {
		<-signals
		close(interrupted)
		cancel()
		<-signals
		if do := a.beforeExit.Load(); do != nil {
			(*do)()
		}
		os.Exit(exitInterrupted)
	}()
	return interrupted
}

// exitCode maps an error to the documented exit codes (docs/exit-codes.md).
func exitCode(err error) int {
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	var e *orchestrator.Error
	if errors.As(err, &e) {
		return int(e.Kind)
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return int(orchestrator.KindUsage)
	}
	return int(orchestrator.KindError)
}
