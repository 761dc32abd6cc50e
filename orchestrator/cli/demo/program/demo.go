// Package program is the built-in CLI: a small interactive agent that needs no account. It does
// what its prompt says (see grammar), keeps a conversation that can be resumed, and behaves at the
// terminal as other agents do: bracketed paste, Escape, permission dialogs, queued prompts. It
// knows nothing of paw's sessions.
package program

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/plain"
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
// Prompts are read from the terminal in until Ctrl-D or /exit (exit code 0). -p runs one turn instead, prints the answer and returns 0, 1 when
// the turn failed, 130 after SIGINT; it refuses every question. SIGHUP and SIGTERM end the program
// with 129 and 143.
//
// Variables make it behave like other agents: with DEMO_IGNORE_HUP=1 it survives its terminal, and
// only SIGTERM ends it; with DEMO_PUT_BACK=1 a prompt that is interrupted before any answer is put
// back into the input line.
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
	var unknown *plain.UnknownError
	switch {
	case errors.As(err, &unknown): // scripts look for exactly this line, which other CLIs print too
		fmt.Fprintln(errw, unknown)
		return exitError
	case err != nil:
		fmt.Fprintf(errw, "demo: error: %v\n", err)
		return exitError
	case !o.headless && !plain.IsTerminal(in):
		fmt.Fprintln(errw, "demo: error: its input is no terminal; a turn without one is -p PROMPT")
		return exitUsage
	}
	return a.run(o, in, out, errw)
}

func newAgent(o options, env []string) (*agent, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("current directory: %w", err)
	}
	folder, err := Folder(env)
	if err != nil {
		return nil, err
	}
	var r *plain.Record
	if o.fork != "" {
		r, err = plain.Fork(folder, o.id, o.fork)
	} else {
		r, err = plain.Open(folder, o.id, o.resume)
	}
	if err != nil {
		return nil, err
	}
	a := &agent{dir: dir, env: cli.Without(git.Unbound(env), []string{HookVariable}), record: r}
	r.ReportTo(cli.Getenv(env, HookVariable), "demo", dir, a.env)
	return a, nil
}

func (a *agent) run(o options, in io.Reader, out, errw io.Writer) int {
	defer a.record.Close()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM)
	defer signal.Stop(signals)

	begin := plain.Entry{Event: plain.Started, Directory: a.dir, PID: os.Getpid()}
	var code int
	if o.headless {
		a.record.Emit(begin)
		code = a.headless(o.prompt, signals, out, errw)
	} else {
		code = a.interactive(begin, o, signals, in, out)
	}
	a.record.Emit(plain.Entry{Event: plain.Exited, Code: &code})
	return code
}

// HookVariable names the program that is called for every event, as `PROGRAM hook demo EVENT` with
// a report on its standard input. It is removed from the environment of the agent's children: their
// turns are not this agent's.
const HookVariable = "PAW_HOOK"

// Folder returns the folder of all conversations. It follows the XDG base directory specification,
// which ignores relative paths.
func Folder(env []string) (string, error) {
	state := cli.Getenv(env, "XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := cli.Getenv(env, "HOME")
		if home == "" {
			return "", errors.New("conversation: neither XDG_STATE_HOME nor HOME is set")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "paw", "demo"), nil
}

// headless runs one turn without a terminal.
func (a *agent) headless(prompt string, signals <-chan os.Signal, out, errw io.Writer) int {
	w := &work{agent: a}
	t := plain.NewTurn(prompt, w.run)
	for {
		select {
		case s := <-signals:
			if !a.ignores(s) {
				t.Cancel(plain.Signal{Signal: s.(syscall.Signal)})
			}
		case <-t.Said: // the whole answer is printed at the end
		case <-t.Asked:
			t.Answers <- -1
		case err := <-t.Done:
			if answer := w.text(); answer != "" {
				fmt.Fprintln(out, answer)
			}
			return exitCode(err, errw)
		}
	}
}

// exitCode prints why a headless turn failed and returns the exit code for it.
func exitCode(err error, errw io.Writer) int {
	var exit plain.Exit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.Code
	}
	fmt.Fprintf(errw, "demo: error: %v\n", err)
	if end, ok := errors.AsType[plain.Signal](err); ok {
		return end.Code()
	}
	return exitError
}

// agent is one run of the demo CLI, with the directory it works in and the conversation it
// continues.
type agent struct {
	dir    string
	env    []string
	record *plain.Record
}

// ignores reports whether s is the SIGHUP of a lost terminal that the agent is told to survive.
func (a *agent) ignores(s os.Signal) bool {
	return s == syscall.SIGHUP && cli.Getenv(a.env, "DEMO_IGNORE_HUP") == "1"
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
			"user.name": "demo", "user.email": cmp.Or(cli.Getenv(a.env, "EMAIL"), "demo@localhost"),
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

const usage = `usage: demo-agent [--session-id ID [--fork ID] | --resume ID] [--ask-trust] [-p PROMPT] [--version] [PROMPT]

--fork begins with a copy of a conversation; --ask-trust first asks whether to trust the folder.

A small agent that needs no account. A plain prompt is noted in NOTES.md and committed.
In a conversation /help shows what to try, and /exit ends it.
A prompt with lines "do: STEP" does those steps instead:

  write PATH TEXT    the file is TEXT and a newline
  append PATH TEXT   TEXT and a newline go to the file's end
  remove PATH        delete the file
  run COMMAND        with sh -c; if it fails, so does the turn
  commit MESSAGE     commit everything
  outcome WORD       footer "outcome: WORD" of this prompt's next commit
  ask QUESTION       wait for y or n; n ends the turn
  sleep SECONDS      fractions allowed
  say TEXT           part of the answer
  fail MESSAGE       end the turn as an API error does
  limit SECONDS      end it as a usage limit does, which is lifted after that time
  exit CODE          end the program in the middle of the turn
  hang               until interrupted
`

// help is the text of /help. It fits into narrow panes and begins with what shows the behaviour of
// an agent.
const help = `I note a plain prompt in NOTES.md and commit it.
To see how other agents behave:
do: ask May I?       a permission; answer y or n
do: sleep 20         a long turn; Esc interrupts it
do: fail no luck     an error, as of a model
do: run ls           a command
do: write a.txt hi   a file, not committed
do: exit 3           the CLI ends in a turn
All: paw demo-agent --help. /exit or Ctrl-D leaves.`

type options struct {
	id       string // never empty, except to resume
	resume   bool
	fork     string // conversation to begin with a copy of, "" for none
	headless bool
	prompt   string // "" when no prompt was given
	version  bool
	asks     bool // ask whether to trust the folder, before anything else
}

func parseOptions(args []string) (options, error) {
	o := options{id: uuid.NewString()}
	set := flag.NewFlagSet("demo-agent", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&o.id, "session-id", o.id, "")
	resume := set.String("resume", "", "")
	set.StringVar(&o.fork, "fork", "", "")
	set.StringVar(&o.prompt, "p", "", "")
	set.BoolVar(&o.version, "version", false, "")
	set.BoolVar(&o.asks, "ask-trust", false, "")
	if err := set.Parse(args); err != nil {
		return options{}, err
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.resume, o.headless = given["resume"], given["p"]
	switch {
	case set.NArg() > 1 || o.headless && set.NArg() == 1:
		return options{}, errors.New("arguments: more than one prompt")
	case o.headless && o.prompt == "":
		return options{}, errors.New("-p: prompt is empty")
	case o.resume && given["session-id"]:
		return options{}, errors.New("--resume: not together with --session-id")
	case o.resume && given["fork"]:
		return options{}, errors.New("--resume: not together with --fork")
	case !plain.ValidID().MatchString(o.id):
		return options{}, fmt.Errorf("--session-id: %q is not an id of letters, digits, _ and -", o.id)
	}
	if o.resume {
		o.id = *resume
	}
	if !o.headless {
		o.prompt = set.Arg(0)
	}
	return o, nil
}
