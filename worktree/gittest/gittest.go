// Package gittest makes git repositories for the tests of package worktree and of its rooms.
package gittest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// World is a repository with one commit, and a place for worktrees beside it.
type World struct {
	T          *testing.T
	Dir        string // main worktree
	Side       string // parent of the worktrees, not made yet
	Repository gitdir.Repository
	Base       string // the last commit
}

// New makes a World in a new folder.
func New(t *testing.T) *World {
	t.Helper()
	return NewAt(t, filepath.Join(RealTemp(t), "repo"))
}

// NewAt makes a World whose main worktree is dir; a repository that is there already gets its commit.
func NewAt(t *testing.T, dir string) *World {
	t.Helper()
	w := &World{T: t, Dir: dir, Side: dir + ".paw"}
	var err error
	if disk.Exists(filepath.Join(dir, ".git")) {
		err = commitFirst(dir)
	} else if err = os.CopyFS(dir, os.DirFS(template())); err == nil {
		w.Git("update-index", "-q", "--refresh") // the index knows the files of the template
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Open()
	return w
}

// template is a repository as New makes it, which is copied for each World.
var template = sync.OnceValue(func() (dir string) {
	dir = filepath.Join(home, "template")
	err := git.Repo{}.Run(context.Background(), "init", "-q", "-b", "main", dir)
	if err == nil {
		err = commitFirst(dir)
	}
	if err != nil {
		panic(err)
	}
	return dir
})

// commitFirst makes the commit of a new World.
func commitFirst(dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o755); err != nil {
		return err
	}
	for name, content := range map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	r := git.Repo{Dir: dir}
	if err := r.Run(context.Background(), "add", "-A"); err != nil {
		return err
	}
	return r.Run(context.Background(), "commit", "-q", "-m", "first")
}

// Open looks at the repository again.
func (w *World) Open() {
	w.T.Helper()
	r, err := gitdir.Discover(w.Dir)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Repository, w.Base = r, At(w.T, w.Dir, "HEAD")
}

// Git runs git in the main worktree.
func (w *World) Git(args ...string) string { w.T.Helper(); return In(w.T, w.Dir, args...) }

// Write writes a file of the main worktree.
func (w *World) Write(name, content string) {
	w.T.Helper()
	WriteFile(w.T, filepath.Join(w.Dir, name), content)
}

// Commit commits all files of the main worktree.
func (w *World) Commit(message string) string {
	w.T.Helper()
	w.Git("add", "-A")
	w.Git("commit", "-q", "--allow-empty", "-m", message)
	w.Base = At(w.T, w.Dir, "HEAD")
	return w.Base
}

// Worktree adds a worktree with a new branch of the same name, and returns its path.
func (w *World) Worktree(name string) string {
	w.T.Helper()
	path := filepath.Join(w.Side, "s", name)
	w.Git("worktree", "add", "-q", "-b", name, path)
	return path
}

// home is the home of the tests.
var home string

// RunIsolated runs tests with a home of their own, and without the settings of the user. Commits
// start no maintenance.
func RunIsolated(m *testing.M) int {
	var err error
	if home, err = os.MkdirTemp("", "paw"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	settings := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(settings, []byte("[maintenance]\n\tauto = false\n"), 0o600); err != nil {
		panic(err)
	}
	for _, item := range os.Environ() {
		name, _, _ := strings.Cut(item, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "XDG_") || name == "TMUX" {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"GIT_CONFIG_GLOBAL": settings, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com", "GIT_AUTHOR_DATE": "2024-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com", "GIT_COMMITTER_DATE": "2024-01-02T03:04:05Z",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// RealTemp returns a new folder, with symlinks resolved.
func RealTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// In runs git in a folder.
func In(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git.Repo{Dir: dir}.Output(t.Context(), args...)
	if err != nil {
		t.Fatalf("in %s: %v", dir, err)
	}
	return strings.TrimRight(out, "\n")
}

// GitDir returns the git directory of a worktree.
func GitDir(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, ".git")
	if admin, linked := strings.CutPrefix(gitdir.Line(path), "gitdir: "); linked {
		return admin
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		t.Fatalf("%s: no git directory: %v", path, err)
	}
	return path
}

// At returns the object that a whole ref, or HEAD of a worktree, is at: from the file of a loose
// ref, else from git.
func At(t *testing.T, dir, ref string) string {
	t.Helper()
	admin, name := GitDir(t, dir), ref
	if at, symbolic := strings.CutPrefix(gitdir.Line(filepath.Join(admin, ref)), "ref: "); symbolic {
		name = at
	}
	common := admin
	if path := gitdir.Line(filepath.Join(admin, "commondir")); path != "" {
		common = filepath.Join(admin, path)
	}
	if at := gitdir.Line(filepath.Join(common, name)); name != "HEAD" && gitdir.IsOID(at) {
		return at
	}
	return In(t, dir, "rev-parse", ref)
}

// WriteFile writes a file, and makes the folders above.
func WriteFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ReadFile reads a file.
func ReadFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
