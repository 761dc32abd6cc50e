package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

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
	root, err := scratchFolder()
	if err != nil {
		t.Fatal(err)
	}
	return newWorldIn(t, root)
}

// firstCommit returns a repository of one commit, made once: the worlds have copies of it.
var firstCommit = sync.OnceValue(func() string {
	return made("shop", map[string]string{"README.md": "hello\n", "sub/a.txt": "a\n"})
})

// emptyCommit is firstCommit without files.
var emptyCommit = sync.OnceValue(func() string { return made("empty", nil) })

// made makes a repository with one commit beside paw.
func made(name string, files map[string]string) string {
	dir := filepath.Join(filepath.Dir(pawForTests()), name)
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), scriptEnvironment(dir, "")...)
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("git %v: %v\n%s", args, err, out))
		}
	}
	git("init", "-q", "-b", "main", dir)
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			panic(err)
		}
	}
	git("-C", dir, "add", "-A")
	git("-C", dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
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
	if err := makeHome(home); err != nil {
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
	if err := os.CopyFS(w.repo, os.DirFS(firstCommit())); err != nil {
		t.Fatal(err)
	}
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
	processor      time.Duration // the time that the command has computed
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
	out := output{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode(), processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
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
