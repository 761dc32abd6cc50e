package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	smallFiles  = 40
	middleFiles = 5_000
	largeFiles  = 20_000
	// childTimeout ends a command that hangs. No measured command takes nearly as long.
	childTimeout = 2 * time.Minute
	pollEvery    = 10 * time.Millisecond
)

// Names of the session and of the CLI in each world.
const (
	sessionName = "bench"
	cliName     = "sleeper"
)

// bench is one run: the paw it measures, its folder, and the results so far.
type bench struct {
	ctx   context.Context
	paw   string
	dir   string // short, because the paths of sockets begin with it
	shims shims
	jobs  []*job
}

func newBench(ctx context.Context, paw string) *bench {
	dir := must(os.MkdirTemp("", "pawb"))
	return &bench{ctx: ctx, paw: paw, dir: dir, shims: newShims(dir)}
}

// close removes the folder. Processes that still write into the folder, to delete in the
// background, get a moment to end.
func (b *bench) close() error {
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(pollEvery) {
		if err = os.RemoveAll(b.dir); err == nil {
			return nil
		}
	}
	return err
}

// job adds a row to the table.
func (b *bench) job(name string, budget budget) *job {
	j := &job{name: name, budget: budget}
	b.jobs = append(b.jobs, j)
	return j
}

// world is a home directory, a repository and a tmux server that nothing else uses.
type world struct {
	ctx    context.Context // canceled when the run is interrupted
	paw    string
	shims  shims
	dir    string
	repo   string
	socket string

	// Settings for the commands that the world runs.
	folder string   // working directory
	extra  []string // further variables
	stdin  string   // file for standard input, "" for none
}

// newWorld makes a world with a repository of small files.
func (b *bench) newWorld(name string, files int) *world {
	dir := filepath.Join(b.dir, name)
	w := &world{ctx: b.ctx, paw: b.paw, shims: b.shims, dir: dir, repo: filepath.Join(dir, "repo"), socket: filepath.Join(dir, "s")}
	w.folder = w.repo
	config := filepath.Join(dir, "config", "paw")
	for _, d := range []string{w.repo, config, filepath.Join(dir, "home")} {
		check(os.MkdirAll(d, 0o755))
	}
	cli := fmt.Sprintf("[clis.%s]\ncommand = [\"sleep\", \"100000\"]\n", cliName)
	check(os.WriteFile(filepath.Join(config, "config.toml"), []byte(cli), 0o644))
	w.run("git", "init", "-q", "-b", "main", ".")
	w.feed(importStream(files), "git", "-c", "core.fsync=none", "fast-import", "--quiet")
	w.run("git", "reset", "-q", "--hard")
	// Git's settings get an older time: for two seconds after a change paw assumes that they may
	// change the content of snapshots.
	old := time.Now().Add(-time.Hour)
	check(os.Chtimes(filepath.Join(w.repo, ".git", "config"), old, old))
	return w
}

// changedFile is a file that every repository has.
const changedFile = "d0/f0.txt"

// importStream returns a commit with small files, 100 in each folder, for git fast-import.
func importStream(files int) string {
	var s strings.Builder
	s.WriteString("commit refs/heads/main\ncommitter bench <bench@localhost> 1767225600 +0000\ndata 6\nfiles\n\n")
	for i := range files {
		text := fmt.Sprintf("file %d\n%s\n", i, strings.Repeat("some text ", i%40))
		fmt.Fprintf(&s, "M 100644 inline d%d/f%d.txt\ndata %d\n%s\n", i/100, i, len(text), text)
	}
	return s.String()
}

// env returns an environment without the user's own configuration, server and repository. With
// counting, git and tmux are the shims.
func (w *world) env(counting bool) []string {
	path := os.Getenv("PATH")
	if counting {
		path = w.shims.dir + string(os.PathListSeparator) + path
	}
	return []string{
		"PATH=" + path, "HOME=" + filepath.Join(w.dir, "home"), "SHELL=/bin/sh", "TERM=xterm-256color", "LC_ALL=C", "TMPDIR=" + w.dir,
		"XDG_CONFIG_HOME=" + filepath.Join(w.dir, "config"), "XDG_DATA_HOME=" + filepath.Join(w.dir, "data"),
		"XDG_STATE_HOME=" + filepath.Join(w.dir, "state"), "XDG_CACHE_HOME=" + filepath.Join(w.dir, "cache"),
		"PAW_TMUX_SOCKET=" + w.socket, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost",
	}
}

// command returns a command in the world's folder.
func (w *world) command(ctx context.Context, counting bool, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.folder, append(w.env(counting), w.extra...), time.Second
	return cmd
}

// run runs a command that is not measured.
func (w *world) run(argv ...string) { w.output(argv...) }

// output runs a command that is not measured, and returns its output.
func (w *world) output(argv ...string) string { return w.feed("", argv...) }

// feed is output with standard input.
func (w *world) feed(stdin string, argv ...string) string {
	ctx, cancel := context.WithTimeout(w.ctx, childTimeout)
	defer cancel()
	cmd := w.command(ctx, false, argv...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		check(childError(argv, err, stderr.Bytes()))
	}
	return stdout.String()
}

// childError returns an error with the command and the last line of its standard error.
func childError(argv []string, err error, stderr []byte) error {
	what := strings.Join(argv, " ")
	if len(what) > 120 {
		what = what[:120] + "..."
	}
	if said := strings.TrimSpace(string(stderr)); said != "" {
		return fmt.Errorf("%s: %w: %s", what, err, said)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// agents returns the agents a1 to aN for paw start --cli.
func agents(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("%s=%s", agentName(i), cliName)
	}
	return strings.Join(items, ",")
}

func agentName(i int) string { return fmt.Sprintf("a%d", i+1) }

// startArgs returns the command that starts a session of n agents without attaching.
func (w *world) startArgs(n int) []string {
	return []string{w.paw, "start", "--detach", "--name", sessionName, "--cli", agents(n)}
}

// settle waits until paw's deletions in the background are done, so that they do not disturb the
// next measurement.
func (w *world) settle() {
	w.await("paw's trash folder to become empty", func() bool {
		entries, err := os.ReadDir(filepath.Join(w.repo, ".git", "paw", "trash"))
		if !errors.Is(err, os.ErrNotExist) {
			check(err)
		}
		return len(entries) == 0
	})
}

// await polls until a condition holds.
func (w *world) await(what string, holds func() bool) {
	for end := time.Now().Add(30 * time.Second); !holds(); sleep(w.ctx, pollEvery) {
		check(w.ctx.Err())
		if time.Now().After(end) {
			fail("waiting for %s: it never happened", what)
		}
	}
}

// sleep waits, unless the run is interrupted.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// crash kills the world's tmux server with SIGKILL, and waits until it and the processes of all
// panes are gone.
func (w *world) crash() {
	pids := strings.Fields(w.output("tmux", "-S", w.socket, "list-panes", "-a", "-F", "#{pid} #{pane_pid}"))
	if len(pids) == 0 {
		fail("%s: no panes", w.socket)
	}
	server, err := strconv.Atoi(pids[0])
	if err != nil || server <= 1 {
		fail("%s: the pid of its server is %q", w.socket, pids[0])
	}
	check(syscall.Kill(server, syscall.SIGKILL))
	w.await("the tmux server and its panes to end", func() bool { return w.ended(pids) })
}

// ended reports whether none of the processes runs. A zombie counts as ended.
func (w *world) ended(pids []string) bool {
	out, _ := w.command(w.ctx, false, "ps", "-o", "stat=", "-p", strings.Join(pids, ",")).Output() // fails if there is none
	for _, state := range strings.Fields(string(out)) {
		if !strings.HasPrefix(state, "Z") {
			return false
		}
	}
	return true
}

// killServer ends a tmux server, also after an interrupt. It is no error if none runs.
func (w *world) killServer(socket string) {
	_ = w.command(context.WithoutCancel(w.ctx), false, "tmux", "-S", socket, "kill-server").Run()
}

// end ends the world's tmux server with all agents.
func (w *world) end() { w.killServer(w.socket) }

// failure is an error that ends a group of jobs, because later measurements would mean nothing.
type failure struct{ error }

// check ends the group on an error.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// fail ends the group with a message.
func fail(format string, args ...any) { check(fmt.Errorf(format, args...)) }

// must returns a value, and ends the group on an error.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// attempt calls do, and returns the error that ended it early.
func attempt(do func()) (err error) {
	defer func() {
		switch stopped := recover().(type) {
		case nil:
		case failure:
			err = stopped.error
		default:
			panic(stopped)
		}
	}()
	do()
	return nil
}
