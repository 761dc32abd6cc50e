// Package git is the only package that runs git. Each git process gets an explicit directory, an
// environment without the variables that tie a process to another repository, and a process group
// of its own, so that Ctrl-C on paw does not interrupt it.
package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"paw/config/lazyregexp"
)

// patience limits how long a cancelled git may clean up after SIGTERM, and how long a child left
// behind by a finished git may keep its pipes open.
const patience = 5 * time.Second

// Repo is a directory to run git in. The With… methods return changed copies.
type Repo struct {
	Dir string

	env      []string
	files    []*os.File
	patience time.Duration
}

// WithEnv returns a Repo whose git processes get these "NAME=value" items, too. The items are added
// after Scrub, so GIT_DIR and the like may be set.
func (r Repo) WithEnv(kv ...string) Repo {
	r.env = append(slices.Clone(r.env), kv...)
	return r
}

// WithFile returns a Repo whose git processes inherit f. The lock of a locked file lasts as long as
// any of them, even if paw is killed.
func (r Repo) WithFile(f *os.File) Repo {
	r.files = append(slices.Clone(r.files), f)
	return r
}

// WithPatience returns a Repo whose git processes have d to clean up when cancelled; then they are
// killed, with their children.
func (r Repo) WithPatience(d time.Duration) Repo {
	r.patience = d
	return r
}

// Run runs git and drops its output. The error is an *Error.
func (r Repo) Run(ctx context.Context, args ...string) error {
	_, err := r.Input(ctx, nil, args...)
	return err
}

// Output runs git and returns its standard output unchanged, with the last newline. The error is an
// *Error.
func (r Repo) Output(ctx context.Context, args ...string) (string, error) {
	return r.Input(ctx, nil, args...)
}

// Line is Output without the end of the line, for commands that print one line.
func (r Repo) Line(ctx context.Context, args ...string) (string, error) {
	out, err := r.Input(ctx, nil, args...)
	return strings.TrimRight(out, "\r\n"), err
}

// Input is Output with a standard input.
func (r Repo) Input(ctx context.Context, stdin []byte, args ...string) (string, error) {
	var stdout bytes.Buffer
	var in io.Reader
	if stdin != nil {
		in = bytes.NewReader(stdin)
	}
	err := r.Stream(ctx, in, &stdout, args...)
	return stdout.String(), err
}

// RunWhole is Run for commands that write and delete files. If git cannot delete a file, it only
// warns and exits with 0; RunWhole returns an *Error.
func (r Repo) RunWhole(ctx context.Context, args ...string) error {
	said, err := r.stream(ctx, nil, nil, args)
	if err == nil && strings.Contains(said, "unable to unlink ") {
		return &Error{Args: args, Dir: r.Dir, ExitCode: 1, Stderr: said, Err: fs.ErrPermission}
	}
	return err
}

// Stream runs git with these streams, each of which may be nil. The error is an *Error.
func (r Repo) Stream(ctx context.Context, stdin io.Reader, stdout io.Writer, args ...string) error {
	_, err := r.stream(ctx, stdin, stdout, args)
	return err
}

// stream runs git and returns its standard error.
func (r Repo) stream(ctx context.Context, stdin io.Reader, stdout io.Writer, args []string) (string, error) {
	cmd := r.command(ctx, args)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &stderr
	err := cmd.Run()
	if r.patience > 0 && ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // a filter may ignore SIGTERM
	}
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		// Git itself succeeded; a hook has left a daemon behind that keeps the pipe open.
		return stderr.String(), nil
	}
	return "", r.failure(ctx, args, stderr.String(), err)
}

// command returns git as every git process of paw runs.
func (r Repo) command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.Dir
	cmd.Env = r.environment()
	cmd.ExtraFiles = r.files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = patience
	if r.patience > 0 {
		cmd.WaitDelay = r.patience
	}
	return cmd
}

func (r Repo) failure(ctx context.Context, args []string, stderr string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return ErrNotInstalled
	}
	failed := &Error{Args: args, Dir: r.Dir, ExitCode: -1, Stderr: stderr, Err: err}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		failed.ExitCode = exit.ExitCode()
	}
	if ctx.Err() != nil {
		failed.Err = ctx.Err()
	}
	return failed
}

// environment returns paw's own environment after Scrub, with English messages, without questions
// on a terminal, and without index refreshes by commands that only read.
func (r Repo) environment() []string {
	env := append(Scrub(os.Environ()), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	if r.Dir != "" {
		env = append(env, "PWD="+r.Dir)
	}
	return append(env, r.env...)
}

// In runs git in the worktree at path. Without the worktree's .git file git would search the
// directories above, and act on another checkout; GIT_CEILING_DIRECTORIES prevents that.
func In(path string) Repo {
	return Repo{Dir: path}.WithEnv("GIT_CEILING_DIRECTORIES=" + filepath.Dir(path))
}

// quiet lists settings under which git runs no hooks of the user, trusts no file watcher or
// untracked cache, and writes no shared index file, as needed for private indexes.
var quiet = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
	"-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false",
	"-c", "diff.orderFile=/dev/null", // git fails if the user's file is missing
}

// Quietly adds quiet to the arguments of a git command.
func Quietly(args ...string) []string { return append(append([]string{}, quiet...), args...) }

// QuotedPath quotes a path that contains the separator of path lists.
func QuotedPath(path string) string {
	if !strings.ContainsAny(path, `:"`) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// NulTerminated writes names as git commands with -z read them.
func NulTerminated(names []string) []byte { return []byte(strings.Join(names, "\x00") + "\x00") }

// NulSeparated splits the output of a git command with -z.
func NulSeparated(out string) []string {
	if out = strings.TrimSuffix(out, "\x00"); out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// Ignored tells which of these files git ignores; names are relative to the directory. options are those of git check-ignore.
func (r Repo) Ignored(ctx context.Context, names []string, options ...string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	paths := []byte("./" + strings.Join(names, "\x00./") + "\x00") // a leading colon would be magic
	out, err := r.Input(ctx, paths, Quietly(append([]string{"check-ignore", "-z", "--stdin"}, options...)...)...)
	if err != nil && ExitCode(err) != 1 { // 1 means that none is ignored
		return nil, err
	}
	ignored := map[string]bool{}
	for _, name := range NulSeparated(out) {
		ignored[strings.TrimPrefix(name, "./")] = true
	}
	return ignored, nil
}

// Terminal holds the streams and the environment of a command in which git may ask the user for a
// password, and print its progress.
type Terminal struct {
	In  io.Reader
	Err io.Writer // nil collects the output for the error
	Env []string
}

// Talk is Output for a git that may ask the user; it therefore runs in the foreground.
func (r Repo) Talk(ctx context.Context, t Terminal, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = r.Dir, append(Scrub(t.Env), "LC_ALL=C", "PWD="+r.Dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.In, &stdout, &stderr
	if t.Err != nil {
		cmd.Stderr = t.Err
	} else {
		cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0")
	}
	if err := cmd.Run(); err != nil {
		return stdout.String(), r.failure(ctx, args, stderr.String(), err)
	}
	return stdout.String(), nil
}

// Answering is a git process that answers each command that it reads, like `git update-ref --stdin`.
// It starts with the first command, and ends with Close, and with paw, whose end closes its standard
// input.
type Answering struct {
	one    sync.Mutex
	cmd    *exec.Cmd // nil for none yet
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
}

func (a *Answering) start(ctx context.Context, r Repo, args []string) error {
	cmd, stderr := r.command(ctx, args), &bytes.Buffer{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		a.cmd, a.in, a.out, a.stderr = cmd, in, bufio.NewReader(out), stderr
	}
	return err
}

// Ask writes commands, waits for as many lines of answers, and returns the last one. If git ends instead,
// which it also does when the ctx of its first command is done, Ask returns an *Error, and the next command
// starts another one. repo and args are the same each time.
func (a *Answering) Ask(ctx context.Context, repo Repo, commands string, lines int, args ...string) (last string, err error) {
	a.one.Lock()
	defer a.one.Unlock()
	if a.cmd == nil {
		if err := a.start(ctx, repo, args); err != nil {
			return "", repo.failure(ctx, args, "", err)
		}
	}
	_, err = io.WriteString(a.in, commands) // git that ends says why
	for range lines {
		if err == nil {
			last, err = a.out.ReadString('\n')
		}
	}
	if err == nil {
		return strings.TrimSuffix(last, "\n"), nil
	}
	if ended := a.end(); ended != nil {
		err = ended
	}
	return "", repo.failure(ctx, args, a.stderr.String(), err)
}

func (a *Answering) end() error {
	cmd := a.cmd
	a.cmd = nil
	_ = a.in.Close()
	_, _ = io.Copy(io.Discard, a.out)
	return cmd.Wait()
}

// Close lets git end, if there is one, and waits for that.
func (a *Answering) Close() {
	if a.cmd != nil {
		_ = a.end()
	}
}

// binding lists the variables that tie a process to one repository, index or object store: those of
// `git rev-parse --local-env-vars`, and those that git sets for hooks, aliases and external
// commands.
var binding = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
	"GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
	"GIT_WORK_TREE",

	"GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_REFLOG_ACTION",
}

// reading lists variables that change how git reads paths and revisions, and what it prints.
var reading = []string{
	"GIT_ATTR_SOURCE", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_GLOB_PATHSPECS",
	"GIT_ICASE_PATHSPECS", "GIT_LITERAL_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
}

// Unbound returns env ("NAME=value" items) without the variables that tie a process to one
// repository, for a process that works in another.
func Unbound(env []string) []string {
	return without(env, binding)
}

// Scrub returns env like Unbound, and without the user's variables that change how git reads and
// prints: paw's own git calls must not depend on them.
func Scrub(env []string) []string {
	return without(Unbound(env), reading)
}

func without(env, names []string) []string {
	kept := make([]string, 0, len(env))
	for _, item := range env {
		name, _, _ := strings.Cut(item, "=")
		if !slices.Contains(names, name) && !strings.HasPrefix(name, "GIT_CONFIG_KEY_") && !strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
			kept = append(kept, item)
		}
	}
	return kept
}

var versionPattern = lazyregexp.New(`^git version (\d+)\.(\d+)`)

// Version returns the version of the git on PATH; raw is the output after "git version". The error
// is ErrNotInstalled when there is none.
func Version(ctx context.Context) (major, minor int, raw string, err error) {
	out, err := Repo{}.Line(ctx, "version")
	if err != nil {
		return 0, 0, "", err
	}
	return parseVersion(out)
}

func parseVersion(out string) (major, minor int, raw string, err error) {
	raw = strings.TrimPrefix(out, "git version ")
	match := versionPattern().FindStringSubmatch(out)
	if match == nil {
		return 0, 0, raw, fmt.Errorf("git: version %q is not understood", out)
	}
	major, _ = strconv.Atoi(match[1])
	minor, _ = strconv.Atoi(match[2])
	return major, minor, raw, nil
}
