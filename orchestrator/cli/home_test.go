package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
)

// lab is a HOME with a worktree, made anew for one test.
type lab struct {
	t              *testing.T
	home, worktree string
	spec           cli.Spec
}

func newLab(t *testing.T) lab {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := lab{t: t, home: filepath.Join(root, "home"), worktree: filepath.Join(root, "repo.paw", "s", "a")}
	for _, dir := range []string{l.home, l.worktree} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l.spec = cli.Spec{
		Executable: "/nowhere/cli", Worktree: l.worktree, RepoPath: filepath.Join(root, "repo"),
		GitCommonDir: filepath.Join(root, "repo", ".git"), StateDir: filepath.Join(root, "state"),
		Env: []string{"HOME=" + l.home, "PATH=" + os.Getenv("PATH")},
	}
	return l
}

// put writes a file below HOME.
func (l lab) put(path, content string) string {
	l.t.Helper()
	path = filepath.Join(l.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// sample is a file that a real CLI wrote, with pairs of texts in it replaced.
func (l lab) sample(name string, pairs ...string) string {
	l.t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		l.t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(string(content), pairs[i]) {
			l.t.Fatalf("%s: no %q in it", name, pairs[i])
		}
	}
	return strings.NewReplacer(pairs...).Replace(string(content))
}

// dash is the folder name that claude and qwen make of a path.
func dash(path string) string {
	return strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(path)
}

func (l lab) age(path string, d time.Duration) {
	l.t.Helper()
	at := time.Now().Add(-d)
	if err := os.Chtimes(path, at, at); err != nil {
		l.t.Fatal(err)
	}
}

func (l lab) with(id string, env ...string) cli.Spec {
	s := l.spec
	s.ConversationID = id
	s.Env = append(append([]string{}, s.Env...), env...)
	return s
}

func conversation(t *testing.T, cli string, s cli.Spec) cli.Conversation {
	t.Helper()
	c, err := get(t, cli).Conversation(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func learn(t *testing.T, cli string, s cli.Spec) []string {
	t.Helper()
	ids, err := get(t, cli).Learn(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func get(t *testing.T, name string) cli.CLI {
	t.Helper()
	cli, ok := clis.New(nil).Get(name)
	if !ok {
		t.Fatalf("no CLI %s", name)
	}
	return cli
}
