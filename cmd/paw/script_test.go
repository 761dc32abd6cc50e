package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a test waits for a condition before it fails.
const patience = 20 * time.Second

// TestScripts runs the scenarios in testdata/script, each with a HOME, a
// repository and a private tmux server of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	pawForTests()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup:               setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"until":      cmdUntil,
			"tmux":       cmdTmux,
			"killserver": cmdKillServer,
			"reboot":     cmdReboot,
			"exitcode":   cmdExitCode,
			"repo":       cmdRepo,
		},
	})
}

func setUpScript(env *testscript.Env) error {
	// A socket's path may have about 100 bytes, and the script's own folder may be too deep.
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		return err
	}
	socket, err := tmuxSocket(dir)
	if err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	for _, kv := range scriptEnvironment(home, socket) {
		name, value, _ := strings.Cut(kv, "=")
		env.Setenv(name, value)
	}
	env.Defer(func() {
		killServer(socket)
		os.RemoveAll(dir)
	})
	return nil
}

// scriptEnvironment returns variables that keep the user's own configuration away.
func scriptEnvironment(home, socket string) []string {
	return []string{
		"HOME=" + home, "PAW_TMUX_SOCKET=" + socket, "TMUX=", "TMUX_PANE=", "TERM=xterm-256color", "LC_ALL=C.UTF-8",
		"XDG_DATA_HOME=" + home + "/.local/share", "XDG_STATE_HOME=" + home + "/.local/state", "XDG_CONFIG_HOME=" + home + "/.config",
		"XDG_CACHE_HOME=" + home + "/.cache", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@localhost", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@localhost",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z", "PAW_SESSION=", "PAW_AGENT=", "SHELL=/bin/sh",
	}
}

// killServer kills the tmux server of a socket with SIGKILL and waits for its end.
func killServer(socket string) {
	out, err := exec.Command("tmux", "-S", socket, "display-message", "-p", "#{pid}").Output()
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || pid <= 1 {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for end := time.Now().Add(patience); time.Now().Before(end) && !ended(pid); {
		time.Sleep(5 * time.Millisecond)
	}
}

// ended reports whether a process has ended, or is a zombie.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) != nil
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return len(fields) > 0 && fields[0] == "Z"
}

// until REGEXP COMMAND...: runs the command until its output matches.
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND...")
	}
	want := regexp.MustCompile(`(?m)` + args[0])
	if args[1] == "tmux" {
		args = append([]string{args[0], "tmux", "-S", ts.Getenv("PAW_TMUX_SOCKET")}, args[2:]...)
	}
	var out string
	for began := time.Now(); time.Since(began) < patience; pause(began) {
		_ = ts.Exec(args[1], args[2:]...)
		if out = ts.ReadFile("stdout") + ts.ReadFile("stderr"); want.MatchString(out) {
			return
		}
	}
	ts.Fatalf("%s never printed %s; last:\n%s", strings.Join(args[1:], " "), args[0], out)
}

// pause waits before a condition is checked again, longer from time to time, so that slow checks do
// not take the time of what they wait for.
func pause(began time.Time) {
	time.Sleep(min(max(30*time.Millisecond, time.Since(began)/8), 250*time.Millisecond))
}

// tmux ARGS...: runs tmux with the script's own server.
func cmdTmux(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("tmux", append([]string{"-S", ts.Getenv("PAW_TMUX_SOCKET")}, args...)...)
	if (err != nil) != neg {
		ts.Fatalf("tmux %s: %v", strings.Join(args, " "), err)
	}
}

// killserver [-nowait]: kills the tmux server, and so all programs in its panes. The kernel sends
// them SIGHUP a moment after the server has ended, so the command waits for their end, except with
// -nowait.
func cmdKillServer(ts *testscript.TestScript, neg bool, args []string) {
	nowait := len(args) == 1 && args[0] == "-nowait"
	if neg || len(args) > 0 && !nowait {
		ts.Fatalf("usage: killserver [-nowait]")
	}
	socket := ts.Getenv("PAW_TMUX_SOCKET")
	panes, err := exec.Command("tmux", "-S", socket, "list-panes", "-a", "-F", "#{pane_pid}").Output()
	if err != nil {
		return // no server runs
	}
	killServer(socket)
	for end := time.Now().Add(patience); !nowait; time.Sleep(5 * time.Millisecond) {
		left := inTerminals(strings.Fields(string(panes)))
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("still there after the death of the server: %v", left)
		}
	}
}

// inTerminals lists, as "pid name", the processes in the terminal sessions (setsid(2)) that leaders
// lead.
func inTerminals(leaders []string) []string {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []string
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended meanwhile
		}
		// proc(5): pid (name) state ppid pgrp session
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 3 && fields[0] != "Z" && slices.Contains(leaders, fields[3]) {
			found = append(found, string(stat[:bytes.LastIndexByte(stat, ')')+1]))
		}
	}
	return found
}

// exitcode N COMMAND...: expects the command to end with exactly this code.
func cmdExitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	got := 0
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// repo DIR: makes a repository with one commit.
func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(args[0])
	for _, argv := range [][]string{{"init", "-q", "-b", "main", dir}, {"-C", dir, "add", "-A"}, {"-C", dir, "commit", "-q", "--allow-empty", "-m", "first"}} {
		ts.Check(ts.Exec("git", argv...))
	}
}

// waitFor polls a condition, and fails the test if it does not hold within patience.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; pause(began) {
		if holds() {
			return
		}
	}
	t.Fatalf("never happened: %s", what)
}

// world is a repository, a HOME and a tmux server for one test.
type world struct {
	t      *testing.T
	root   string
	repo   string
	socket string
	env    []string
}

// newWorld makes a world with a repository of one commit.
func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := os.MkdirTemp("", "paw")
	if err != nil {
		t.Fatal(err)
	}
	return newWorldIn(t, root)
}

// newWorldIn makes a world in an empty folder, which is deleted at the end.
func newWorldIn(t *testing.T, root string) *world {
	t.Helper()
	pawForTests()
	socket, err := tmuxSocket(root)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root, repo: filepath.Join(root, "shop"), socket: socket}
	home := filepath.Join(root, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "PAW_") && !strings.HasPrefix(kv, "TMUX") {
			w.env = append(w.env, kv)
		}
	}
	w.env = append(w.env, scriptEnvironment(home, w.socket)...)
	t.Cleanup(func() {
		killServer(w.socket)
		os.RemoveAll(root)
	})
	w.write(w.repo, "README.md", "hello\n")
	w.write(w.repo, "sub/a.txt", "a\n")
	w.git(root, "init", "-q", "-b", "main", w.repo)
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "first")
	return w
}

func (w *world) write(dir, name, content string) {
	w.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// script writes an executable file.
func (w *world) script(dir, name, content string) {
	w.t.Helper()
	w.write(dir, name, content)
	if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// configure writes the user's configuration.
func (w *world) configure(settings string) {
	w.t.Helper()
	w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", settings)
}

// awaitFile waits until a file exists.
func (w *world) awaitFile(path string) {
	w.t.Helper()
	waitFor(w.t, path+" is there", func() bool { _, err := os.Stat(path); return err == nil })
}

// output is the output and the exit code of a command.
type output struct {
	stdout, stderr string
	code           int
}

// run runs a program in dir with more variables; death by SIGKILL is exit code 137.
func (w *world) run(dir string, extra []string, name string, args ...string) output {
	w.t.Helper()
	return w.runReading("", dir, extra, name, args...)
}

// runReading is run with a text on standard input.
func (w *world) runReading(stdin, dir string, extra []string, name string, args ...string) output {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(append([]string{}, w.env...), extra...), 5*time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	out := output{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	if out.code == -1 {
		out.code = 137
	}
	if ctx.Err() != nil {
		w.t.Fatalf("%s %s: never ended: %v\n%s%s", name, strings.Join(args, " "), err, out.stdout, out.stderr)
	}
	return out
}

// paw runs paw in the repository.
func (w *world) paw(args ...string) output {
	w.t.Helper()
	return w.pawWith(nil, args...)
}

func (w *world) pawWith(extra []string, args ...string) output {
	w.t.Helper()
	return w.run(w.repo, extra, pawForTests(), args...)
}

// ok fails the test unless the command ended with exit code 0.
func (w *world) ok(out output) output {
	w.t.Helper()
	if out.code != 0 {
		w.t.Fatalf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	return out
}

// okAll fails the test unless all commands ended with exit code 0.
func (w *world) okAll(outs []output) {
	w.t.Helper()
	for _, out := range outs {
		w.ok(out)
	}
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	return w.ok(w.run(dir, nil, "git", args...)).stdout
}

// hasStatus fails the test unless the output of git status is as given.
func (w *world) hasStatus(dir, want string) {
	w.t.Helper()
	if got := w.git(dir, "status", "--porcelain"); got != want {
		w.t.Errorf("git status says\n%s\nwant %s", got, want)
	}
}

func (w *world) tmux(args ...string) output {
	w.t.Helper()
	return w.run(w.root, nil, "tmux", append([]string{"-S", w.socket}, args...)...)
}
