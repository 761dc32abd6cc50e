package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	smallFiles  = 40
	middleFiles = 5_000
	largeFiles  = 20_000
	// childTimeout is far beyond what any measured command takes; one that hangs must not hang the run.
	childTimeout = 2 * time.Minute
	pollEvery    = 10 * time.Millisecond
)

// sessionName is the session of every world, cliName the CLI of its agents.
const (
	sessionName = "bench"
	cliName     = "sleeper"
)

// world is a home, a repository and a tmux server that nothing else uses.
type world struct {
	paw    string
	shims  shims
	dir    string
	repo   string
	socket string

	// What commands run with beside that.
	folder string   // where they stand
	extra  []string // further variables
	stdin  string   // file to read, "" for none
}

// newWorld makes a world with a repository of so many small files.
func (b *bench) newWorld(ctx context.Context, name string, files int) (*world, error) {
	dir := filepath.Join(b.dir, name)
	w := &world{paw: b.paw, shims: b.shims, dir: dir, repo: filepath.Join(dir, "repo"), socket: filepath.Join(dir, "s")}
	w.folder = w.repo
	config := filepath.Join(dir, "config", "paw")
	for _, d := range []string{w.repo, config, filepath.Join(dir, "home")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	cli := fmt.Sprintf("[clis.%s]\ncommand = [\"sleep\", \"100000\"]\n", cliName)
	if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte(cli), 0o644); err != nil {
		return nil, err
	}
	if err := w.run(ctx, nil, "git", "init", "-q", "-b", "main", "."); err != nil {
		return nil, err
	}
	if err := w.run(ctx, strings.NewReader(importStream(files)), "git", "-c", "core.fsync=none", "fast-import", "--quiet"); err != nil {
		return nil, err
	}
	if err := w.run(ctx, nil, "git", "reset", "-q", "--hard"); err != nil {
		return w, err
	}
	// Settings that have just changed may change what a snapshot holds, which lasts two seconds only.
	old := time.Now().Add(-time.Hour)
	return w, os.Chtimes(filepath.Join(w.repo, ".git", "config"), old, old)
}

// changedFile is one of every repository.
const changedFile = "d0/f0.txt"

// importStream is one commit with so many files, 100 to a folder, for git fast-import.
func importStream(files int) string {
	var s strings.Builder
	s.WriteString("commit refs/heads/main\ncommitter bench <bench@localhost> 1767225600 +0000\ndata 6\nfiles\n\n")
	for i := range files {
		text := fmt.Sprintf("file %d\n%s\n", i, strings.Repeat("some text ", i%40))
		fmt.Fprintf(&s, "M 100644 inline d%d/f%d.txt\ndata %d\n%s\n", i/100, i, len(text), text)
	}
	return s.String()
}

// env shuts the user's own configuration, server and repository out. With
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

// command is a child that stands in the world's folder.
func (w *world) command(ctx context.Context, counting bool, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.folder, append(w.env(counting), w.extra...), time.Second
	return cmd
}

// run runs a command that is not measured.
func (w *world) run(ctx context.Context, stdin io.Reader, argv ...string) error {
	_, err := w.output(ctx, stdin, argv...)
	return err
}

// output is what a command that is not measured printed.
func (w *world) output(ctx context.Context, stdin io.Reader, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, childTimeout)
	defer cancel()
	cmd := w.command(ctx, false, argv...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", childError(argv, err, stderr.Bytes())
	}
	return stdout.String(), nil
}

// childError names the command and the last thing it said.
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

// agents are the CLIs of so many agents, a1 to aN, for paw start --cli.
func agents(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("%s=%s", agentName(i), cliName)
	}
	return strings.Join(items, ",")
}

func agentName(i int) string { return fmt.Sprintf("a%d", i+1) }

// startArgs starts a session of n agents without attaching.
func (w *world) startArgs(n int) []string {
	return []string{w.paw, "start", "--detach", "--name", sessionName, "--cli", agents(n)}
}

// settle waits until paw has deleted in the background what it threw away, so
// that this is not part of what is measured next.
func (w *world) settle(ctx context.Context) error {
	return await(ctx, "paw's trash folder to become empty", func() (bool, error) {
		entries, err := os.ReadDir(filepath.Join(w.repo, ".git", "paw", "trash"))
		if errors.Is(err, os.ErrNotExist) {
			return true, nil
		}
		return len(entries) == 0, err
	})
}

// await polls until a condition holds.
func await(ctx context.Context, what string, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}
