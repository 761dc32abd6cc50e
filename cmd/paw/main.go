// Command paw runs several AI coding CLIs side by side on one repository: one
// git branch, worktree and tmux pane each.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

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
	// Most commands end before a collection would pay; those that stay stay small.
	debug.SetGCPercent(400)
	command := ""
	if len(argv) > 1 {
		command = argv[1]
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a := &invocation{stdin: stdin, stdout: stdout, stderr: stderr, env: env, typed: argv[1:]}
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
