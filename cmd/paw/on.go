package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"paw/orchestrator/hosts"
)

// onCommand is the hidden command with which a paw on another machine runs a command on this one:
// paw __on WORD.
const onCommand = "__on"

// runner is the function that runs paw with its arguments and environment.
type runner func(argv, env []string, stdin io.Reader, stdout, stderr io.Writer) int

// answer runs the request of another machine in this process, in the folder and the environment of
// the request. It prints the request's marker first, so that the other machine can tell the answer
// from greetings of the login shell.
func answer(argv, env []string, stdin io.Reader, stdout, stderr io.Writer, run runner) int {
	if len(argv) != 3 {
		fmt.Fprintln(stderr, "paw: error: __on: takes one word")
		return 2
	}
	request, err := hosts.ParseRequest(argv[2])
	if err != nil {
		fmt.Fprintf(stderr, "paw: error: __on: %v\n", err)
		return 2
	}
	if request.Marker != "" {
		fmt.Fprintln(stdout, request.Marker)
	}
	dir := request.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(os.Getenv("HOME"), dir)
	}
	if err := os.Chdir(dir); err != nil {
		fmt.Fprintf(stderr, "paw: error: %s: no such folder there\n", dir)
		return 10
	}
	if request.Login {
		login, err := hosts.LoginEnvironment(context.Background(), os.Getenv("SHELL"), env)
		if err != nil {
			fmt.Fprintf(stderr, "paw: note: the login shell %s does not give its environment: %v\n", os.Getenv("SHELL"), err)
		}
		env = withVariables(env, login)
	}
	if request.Env {
		in := bufio.NewReader(stdin)
		line, err := in.ReadString('\n')
		given, parseErr := hosts.TakeOver(line)
		if err != nil || parseErr != nil {
			fmt.Fprintln(stderr, "paw: error: __on: the variables did not arrive")
			return 1
		}
		var list []string
		for name, value := range given {
			list = append(list, name+"="+value)
		}
		env, stdin = withVariables(env, list), in
	}
	if request.Held {
		go interruptAtEnd(stdin)
		stdin = strings.NewReader("")
	}
	env = withVariables(env, []string{"PWD=" + dir})
	return run(append([]string{argv[0]}, request.Args...), env, stdin, stdout, stderr)
}

// interruptAtEnd interrupts this process at the end of an input: sshd closes the input when the
// connection is gone.
func interruptAtEnd(input io.Reader) {
	_, _ = io.Copy(io.Discard, input)
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
}

// withVariables replaces or adds variables in an environment, and sets them in this process.
func withVariables(env, others []string) []string {
	for _, kv := range others {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		kept := env[:0:0]
		for _, own := range env {
			if !strings.HasPrefix(own, name+"=") {
				kept = append(kept, own)
			}
		}
		env = append(kept, kv)
		os.Setenv(name, value) //nolint:errcheck // a name without NUL and = cannot fail
	}
	return env
}
