package git

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func isolate(t *testing.T) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
}

func TestLocalEnvNamesAllThatGitNames(t *testing.T) {
	isolate(t)
	out, err := Repo{}.Output(context.Background(), "rev-parse", "--local-env-vars")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(out) {
		if !slices.Contains(binding, name) {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestScrubDropsRepositoryVariablesOnly(t *testing.T) {
	got := Scrub([]string{"A=1", "GIT_DIR=/x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_EXEC_PATH=/e", "GIT_AUTHOR_NAME=n"})
	if want := []string{"A=1", "GIT_AUTHOR_NAME=n"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestForeignRepositoryVariablesChangeNothing(t *testing.T) {
	isolate(t)
	ctx := context.Background()
	here, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{here, other} {
		if err := (Repo{Dir: dir}).Run(ctx, "init", "-q"); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, "index"))
	got, err := Repo{Dir: here}.Line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := filepath.EvalSymlinks(here); got != want {
		t.Errorf("toplevel is %q, want %q", got, want)
	}
}

func TestErrorEndsWithGitsOwnLastMessage(t *testing.T) {
	isolate(t)
	err := Repo{Dir: t.TempDir()}.Run(context.Background(), "-c", "a.b=c", "rev-parse", "HEAD")
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %T %v", err, err)
	}
	if failed.ExitCode != 128 || !strings.HasPrefix(err.Error(), "git rev-parse: fatal: not a git repository") {
		t.Errorf("got %d %q", failed.ExitCode, err)
	}
}

func TestLastMessage(t *testing.T) {
	for _, c := range []struct{ stderr, want string }{
		{"Preparing worktree\nfatal: no\n", "fatal: no"},
		{"error: files would be overwritten:\n\ta\n\tb\nPlease move\nAborting\n", "error: files would be overwritten: a b"},
		{"main is frozen\n  ask Ann\nfatal: ref updates aborted by hook\n", "fatal: ref updates aborted by hook: main is frozen ask Ann"},
		{"something\nhint: try this\n", "something"},
		{"git-crypt: Error: Unable to open key file\nerror: external filter 'git-crypt smudge' failed 1\nfatal: a: smudge filter git-crypt failed\n", "fatal: a: smudge filter git-crypt failed: git-crypt: Error: Unable to open key file"},
		{"git-lfs filter-process: 1: git-lfs: not found\nfatal: the remote end hung up unexpectedly\n", "fatal: the remote end hung up unexpectedly: git-lfs filter-process: 1: git-lfs: not found"},
		{"", ""},
	} {
		if got := lastMessage(c.stderr); got != c.want {
			t.Errorf("%q: got %q, want %q", c.stderr, got, c.want)
		}
	}
}

func TestMissingGitIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, _, _, err := Version(context.Background()); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
}

// TestCancelledGitEndsWithItsChildren: a pipe that git's child has inherited is closed when no process has it any more.
func TestCancelledGitEndsWithItsChildren(t *testing.T) {
	isolate(t)
	read, inherited, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if err := read.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = read.Read(make([]byte, 1)) // the child is at work
		cancel()
	}()
	err = Repo{Dir: t.TempDir()}.WithFile(inherited).Run(ctx, "-c", "alias.hang=!printf x >&3; exec sleep 1000", "hang")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	inherited.Close()
	if _, err := read.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the child lives: %v", err)
	}
}

func TestInheritedFileReachesGitsChildren(t *testing.T) {
	isolate(t)
	f, err := os.CreateTemp(t.TempDir(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := (Repo{Dir: t.TempDir()}).WithFile(f).Run(context.Background(), "-c", "alias.w=!echo here >&3", "w"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(f.Name()); string(got) != "here\n" {
		t.Errorf("got %q", got)
	}
}
