package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
)

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"a/x": 0o600, "b/x": 0o700, "c/x": 0o700, "a/d/in": 0o700} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "c"))
	t.Setenv("PATH", filepath.Join(dir, "c"))
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, c := range []struct{ program, path, want string }{
		{"x", a + ":" + b, filepath.Join(b, "x")}, // a/x cannot be executed
		{"x", a, ""},
		{"x", "", ""},
		{"x", ".:" + b, filepath.Join(b, "x")}, // not the one of the current directory
		{"x", ":" + a, ""},
		{"d", a, ""}, // a directory
		{"", b, ""},
		{filepath.Join(b, "x"), "", filepath.Join(b, "x")},
		{"../b/x", "", filepath.Join(b, "x")},
		{filepath.Join(a, "x"), b, ""},
	} {
		got, err := cli.LookPath(c.program, []string{"PATH=/nowhere", "PATH=" + c.path})
		if got != c.want || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, cli.ErrNotInstalled) {
			t.Errorf("%q in %q: %q, %v", c.program, c.path, got, err)
		}
	}
}

func TestScrub(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--local-env-vars").Output()
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, name := range append(strings.Fields(string(out)), "GIT_EXEC_PATH", "CLAUDE_CODE_CHILD_SESSION") {
		env = append(env, name+"=x")
	}
	kept := []string{"TMUX=/tmp/x,1,0", "GIT_AUTHOR_NAME=me", "PATH=/bin", "GIT_DIRECTORY=x", "EMPTY="}
	if diff := cmp.Diff(kept, cli.Scrub(slices.Concat(env, kept))); diff != "" {
		t.Error(diff)
	}
}

func TestLongestArgument(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux limits one argument")
	}
	env := []string{"PATH=" + os.Getenv("PATH")}
	for size, ok := range map[int]bool{prompts.MaxArgument(): true, prompts.MaxArgument() + 1: false} {
		cmd := exec.CommandContext(t.Context(), "true", strings.Repeat("x", size))
		cmd.Env = env
		if err := cmd.Run(); (err == nil) != ok {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// CLIs keep the conversations of a worktree under the name that it had without links, also when the worktree is gone.
func TestResolvedOfAWorktreeThatIsGone(t *testing.T) {
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(cli.Resolved(real), "gone")
	if got := cli.Resolved(filepath.Join(link, "gone")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := (cli.Spec{}).Resolved(filepath.Join(link, "gone")); got != want {
		t.Errorf("in a launch: %s, want %s", got, want)
	}
}
