package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/config/display"
	"paw/config/lazyregexp"
	"paw/config/poll"
	"paw/session"
	"paw/worktree/git"
)

// ErrNotInstalled means that a program is not on the PATH that was searched.
var ErrNotInstalled = errors.New("not installed")

// pipeGrace bounds the wait for output of processes that a finished CLI left running.
const pipeGrace = time.Second

// interruptGrace bounds how long an interrupted CLI and its children may take to end before they
// are killed. Tests shorten it.
var interruptGrace = 5 * time.Second

// maxTrace is how many bytes of a CLI's standard error are kept.
const maxTrace = 4 << 10

// Process is a run of a CLI without a terminal.
type Process struct {
	Argv []string
	Dir  string
	Env  []string
	Lock *os.File // inherited by the CLI, so that the lock is held as long as the CLI runs; may be nil
	// Stdout and Stderr are called with each line, without its end, while the CLI runs; neither is
	// called concurrently with itself.
	Stdout, Stderr func(line []byte)
	// Began, which may be nil, is called with the pid of the started CLI.
	Began func(pid int)
	// Started is called with a function that kills the CLI and its children at once, and at the end
	// with one that does nothing.
	Started func(kill func())
}

// Ended is how a Process ended.
type Ended struct {
	Stdout      []byte
	Trace       string // last bytes of standard error
	ExitCode    int
	Signal      syscall.Signal // signal that killed the CLI, 0 for none
	Interrupted bool           // because ctx was cancelled
	Err         error          // set when the CLI could not be started
}

// Run runs the CLI until it ends or ctx is cancelled. In the latter case the CLI is interrupted as
// by Ctrl-C and, when it or a child of it takes too long, killed: no process is left.
func (p Process) Run(ctx context.Context) Ended {
	var stdout bytes.Buffer
	var trace []byte
	outLines := &LineWriter{Each: p.Stdout}
	errLines := &LineWriter{Each: func(line []byte) {
		trace = withLine(trace, line, maxTrace)
		p.Stderr(line)
	}}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.Argv[0], p.Argv[1:]...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, outLines), errLines
	cmd.WaitDelay = pipeGrace
	if p.Lock != nil {
		cmd.ExtraFiles = []*os.File{p.Lock}
	}
	// A terminal session of its own (setsid): the CLI cannot use paw's terminal, Ctrl-C reaches
	// only paw, and all processes that the CLI starts can be found by that session.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	interrupted, err := p.await(ctx, cmd)
	outLines.Flush()
	errLines.Flush()
	end := Ended{Stdout: stdout.Bytes(), Trace: strings.ToValidUTF8(string(trace), ""), Interrupted: interrupted, Err: err}
	if state := cmd.ProcessState; state != nil {
		end.ExitCode = state.ExitCode()
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			end.Signal = status.Signal()
		}
	}
	return end
}

// await starts the command and waits for its end, or ends it when ctx is cancelled.
func (p Process) await(ctx context.Context, cmd *exec.Cmd) (interrupted bool, err error) {
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("%s: %w", p.Argv[0], err)
	}
	leader := cmd.Process.Pid
	if p.Began != nil {
		p.Began(leader)
	}
	p.Started(func() { killAll(leader) })
	defer p.Started(func() {})
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the outcome is read from ProcessState
		close(ended)
	}()
	select {
	case <-ended:
		return false, nil
	case <-ctx.Done():
		endAll(leader, ended)
		return true, nil
	}
}

// endAll interrupts a CLI as Ctrl-C would, and kills it and its children when interruptGrace is
// over.
func endAll(leader int, ended <-chan struct{}) {
	_ = syscall.Kill(-leader, syscall.SIGINT)
	gone := poll.Until(context.Background(), poll.Tick, interruptGrace, func() bool {
		select {
		case <-ended:
			return len(session.Members(leader)) == 0
		default:
			return false
		}
	})
	if !gone {
		killAll(leader)
		<-ended
	}
}

// killAll kills every process of a terminal session.
func killAll(leader int) {
	_ = syscall.Kill(-leader, syscall.SIGKILL)
	for _, pid := range session.Members(leader) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// LineWriter calls Each with every line that is written to it, without the line's end.
type LineWriter struct {
	Each func(line []byte)
	rest []byte
}

func (w *LineWriter) Write(b []byte) (int, error) {
	for rest := b; ; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		w.rest = append(w.rest, line...)
		if !whole {
			return len(b), nil
		}
		w.Each(w.rest)
		w.rest, rest = nil, after
	}
}

// Flush calls Each with a last line that has no end.
func (w *LineWriter) Flush() {
	if len(w.rest) > 0 {
		w.Each(w.rest)
		w.rest = nil
	}
}

// withLine adds a line to a text, and keeps the last limit bytes.
func withLine(text, line []byte, limit int) []byte {
	text = append(append(text, line...), '\n')
	return text[max(0, len(text)-limit):]
}

// LookPath finds program on the PATH of env, not on that of paw, and returns an absolute path or
// ErrNotInstalled. Relative entries of PATH are skipped: they would run a program of whatever
// repository paw was called in.
func LookPath(program string, env []string) (string, error) {
	if strings.ContainsRune(program, filepath.Separator) {
		path, err := filepath.Abs(program)
		if err != nil {
			return "", fmt.Errorf("%s: %w", program, err)
		}
		if !executable(path) {
			return "", fmt.Errorf("%s: %w", program, ErrNotInstalled)
		}
		return path, nil
	}
	if program != "" {
		for _, dir := range filepath.SplitList(Getenv(env, "PATH")) {
			if path := filepath.Join(dir, program); filepath.IsAbs(dir) && executable(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s: %w", program, ErrNotInstalled)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil
}

// Scrub returns env without the variables that tie a CLI to the place where paw was called: those
// of git, and ChildSession. TMUX stays.
func Scrub(env []string) []string {
	return Without(git.Unbound(env), []string{ChildSession})
}

// Getenv returns the last value of key in env, as a process would see it; a nil env stands for
// paw's own environment.
func Getenv(env []string, key string) string {
	if env == nil {
		return os.Getenv(key)
	}
	for _, entry := range slices.Backward(env) {
		if name, value, _ := strings.Cut(entry, "="); name == key {
			return value
		}
	}
	return ""
}

// Without returns env without the named variables.
func Without(env, names []string) []string {
	kept := make([]string, 0, len(env))
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(names, name) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// Folder returns the folder of a CLI's files: the value of variable, or the path below HOME.
func Folder(env []string, variable string, below ...string) string {
	if dir := Getenv(env, variable); variable != "" && dir != "" {
		return dir
	}
	return filepath.Join(append([]string{Getenv(env, "HOME")}, below...)...)
}

// Resolved returns path without symlinks, as far as it exists: CLIs record their directory as
// getcwd(3) returns it, and a worktree may be gone by now.
func Resolved(path string) string { return disk.Resolved(path) }

// environment returns env, or paw's own environment where env is nil.
func environment(env []string) []string {
	if env == nil {
		return os.Environ()
	}
	return env
}

// LockedBy returns a process that holds the lock of a file that matches pattern, 0 for none.
func LockedBy(pattern string) int {
	files, _ := filepath.Glob(pattern)
	for _, file := range files {
		if pids := session.LockHolders(file); len(pids) > 0 {
			return pids[0]
		}
	}
	return 0
}

// GlobQuote escapes a path so that filepath.Glob takes it literally.
func GlobQuote(path string) string { return globQuoter.Replace(path) }

var globQuoter = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// ChildSession is a variable that claude sets for everything it runs, a tmux server included. An
// interactive claude that inherits it writes neither transcript nor registry and cannot be resumed.
const ChildSession = "CLAUDE_CODE_CHILD_SESSION"

// The slowest CLI needs almost 3 s to print its version on two busy cores, and over 20 s at a load
// of 45.
const versionTimeout = time.Minute

// VersionPatience limits how long a command waits that can do without the version.
const VersionPatience = 3 * time.Second

var number = lazyregexp.New(`\d+(\.\d+)+[0-9A-Za-z.+-]*`)

// Version returns the program's version, such as "2.1.197": the first number in the output of
// `executable --version`, else its first line.
func (c CLI) Version(ctx context.Context, executable string, env []string) (string, error) {
	if own := c.Facts().Version; own != "" {
		return own, nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := Output(ctx, os.TempDir(), env, executable, "--version")
	if err != nil {
		return "", err
	}
	if found := number().FindString(string(out)); found != "" {
		return strings.TrimRight(found, "."), nil
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first, nil
}

// Output runs a CLI without a terminal or input and returns its standard output; an error ends with
// the last line of standard error.
func Output(ctx context.Context, dir string, env []string, executable string, args ...string) ([]byte, error) {
	var stdout bytes.Buffer
	err := OutputTo(ctx, &stdout, dir, env, executable, args...)
	return stdout.Bytes(), err
}

// OutputTo is like Output, but copies standard output to stdout.
func OutputTo(ctx context.Context, stdout io.Writer, dir string, env []string, executable string, args ...string) error {
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Dir = dir
	cmd.Env = Scrub(environment(env))
	cmd.WaitDelay = 2 * time.Second
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if last := display.LastLine(stderr.String()); last != "" {
		return fmt.Errorf("%s %s: %w: %s", executable, strings.Join(args, " "), err, last)
	}
	return fmt.Errorf("%s %s: %w", executable, strings.Join(args, " "), err)
}

// RunStatusLine runs the user's own status line command with payload as its input, as the CLI
// itself would.
func RunStatusLine(ctx context.Context, command string, payload []byte, out io.Writer) error {
	own := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	own.Stdin, own.Stdout = bytes.NewReader(payload), out
	return own.Run()
}
