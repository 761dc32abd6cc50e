// Package program is the built-in CLI: a small interactive agent that needs no account. It does
// what its prompt says (see grammar), keeps a conversation that can be resumed, and behaves at the
// terminal as other agents do: bracketed paste, Escape, permission dialogs, queued prompts. It
// knows nothing of the rest of paw.
package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"paw/worktree/git"
)

const version = "1.0.0"

// Exit codes; a signal ends the program with 128 plus the signal's number.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// Main runs the demo CLI in the current directory and returns its exit code. args are the words
// after the program's name; env is its whole environment, as KEY=value.
//
// Prompts are read from in until Ctrl-D or /exit (exit code 0): with keys and dialogs when in is a
// terminal, else one per line. -p runs one turn instead, prints the answer and returns 0, 1 when
// the turn failed, 130 after SIGINT; it refuses every question. SIGHUP and SIGTERM end the program
// with 129 and 143.
//
// Variables make it behave like other agents: with DEMO_IGNORE_HUP=1 it survives its terminal, and
// only SIGTERM ends it; with DEMO_PUT_BACK=1 a prompt that is interrupted before any answer is put
// back into the input line; with DEMO_DEAF=1 it draws its input line before it reads from the
// terminal, and loses the first paste.
func Main(args []string, in io.Reader, out, errw io.Writer, env []string) int {
	o, err := parseOptions(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return exitOK
	case err != nil:
		fmt.Fprintf(errw, "demo: error: %v\n", err)
		return exitUsage
	case o.version:
		fmt.Fprintln(out, "demo", version)
		return exitOK
	}
	a, err := newAgent(o, env)
	var unknown *unknownError
	switch {
	case errors.As(err, &unknown): // scripts look for exactly this line, which other CLIs print too
		fmt.Fprintln(errw, unknown)
		return exitError
	case err != nil:
		fmt.Fprintf(errw, "demo: error: %v\n", err)
		return exitError
	}
	return a.run(o, in, out, errw)
}

func newAgent(o options, env []string) (*agent, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("current directory: %w", err)
	}
	folder, err := conversationsDir(env)
	if err != nil {
		return nil, err
	}
	var c *conversation
	if o.fork != "" {
		c, err = forkConversation(folder, o.id, o.fork)
	} else {
		c, err = openConversation(folder, o.id, o.resume)
	}
	if err != nil {
		return nil, err
	}
	a := &agent{dir: dir, env: withoutHook(git.Unbound(env)), conversation: c}
	a.report = a.reporter(env)
	return a, nil
}

func (a *agent) run(o options, in io.Reader, out, errw io.Writer) int {
	defer a.conversation.close()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM)
	defer signal.Stop(signals)

	begin := Entry{Event: started, Directory: a.dir, PID: os.Getpid()}
	var code int
	if o.headless {
		a.emit(begin)
		code = a.headless(o.prompt, signals, out, errw)
	} else {
		code = a.interactive(begin, o, signals, in, out)
	}
	a.emit(Entry{Event: exited, Code: &code})
	return code
}

// headless runs one turn without a terminal.
func (a *agent) headless(prompt string, signals <-chan os.Signal, out, errw io.Writer) int {
	t := a.begin(prompt)
	for {
		select {
		case s := <-signals:
			if !a.ignores(s) {
				t.cancel(signalError{s.(syscall.Signal)})
			}
		case <-t.said: // the whole answer is printed at the end
		case <-t.asked:
			t.answers <- false
		case err := <-t.done:
			if answer := t.text(); answer != "" {
				fmt.Fprintln(out, answer)
			}
			return exitCode(err, errw)
		}
	}
}

// exitCode prints why a headless turn failed and returns the exit code for it.
func exitCode(err error, errw io.Writer) int {
	var exit exitRequest
	var end signalError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	}
	fmt.Fprintf(errw, "demo: error: %v\n", err)
	if errors.As(err, &end) {
		return end.code()
	}
	return exitError
}
