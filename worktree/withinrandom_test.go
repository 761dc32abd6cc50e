package worktree

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"paw/worktree/git"

	"golang.org/x/sys/unix"
)

// TestWithinIsWhatGitWouldAddAfterAnySteps does random things in a worktree and takes a snapshot after each few of them, which has
// to be that of one who sees the worktree for the first time. PAW_SNAPSHOT_SEED and PAW_SNAPSHOT_STEPS say which and how many.
func TestWithinIsWhatGitWouldAddAfterAnySteps(t *testing.T) {
	seed, steps := rand.Uint64(), 60
	if asked, err := strconv.ParseUint(os.Getenv("PAW_SNAPSHOT_SEED"), 10, 64); err == nil {
		seed = asked
	}
	if asked, err := strconv.Atoi(os.Getenv("PAW_SNAPSHOT_STEPS")); err == nil {
		steps = asked
	}
	w := &random{turns: newTurns(t, "*.log\n"), Rand: rand.New(rand.NewPCG(seed, 1))}
	w.ageSettings()
	w.git("config", "core.autocrlf", "input")
	var done []string
	for n := range steps {
		done = append(done, w.step())
		if w.IntN(3) == 0 {
			continue
		}
		if w.IntN(3) == 0 {
			w.age()
		}
		if w.wantTree(fmt.Sprintf("seed %d, step %d", seed, n), w.take()); t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(done, "\n"))
		}
	}
}

// random is a worktree in which anything may happen.
type random struct {
	*turns
	*rand.Rand
}

// name is one of few, so that steps meet each other.
func (w *random) name() string {
	return []string{"a.txt", "dir/b.txt", "dir/c", "dir", "new", "new/x", "d2/b.txt", "d2/x.log", "y.log", "d2"}[w.IntN(10)]
}

// step does one thing, whether it succeeds or not, and says which.
func (w *random) step() string {
	name, other := w.name(), w.name()
	path := w.path(name)
	text := strings.Repeat([]string{"x\n", "x\r\n"}[w.IntN(2)], w.IntN(3)) + string(rune('a'+w.IntN(3))) + "\n"
	run := func(args ...string) { _ = git.In(w.p.Path).Run(w.t.Context(), args...) }
	for _, at := range []string{filepath.Dir(path), path, w.path(other)} { // whoever opens a pipe waits, and os.RemoveAll opens what a path is in
		if info, err := os.Stat(at); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			_ = os.Remove(at)
		}
	}
	steps := []struct {
		what string
		do   func()
	}{
		{"write", func() { _ = os.MkdirAll(filepath.Dir(path), 0o755); _ = os.WriteFile(path, []byte(text), 0o644) }},
		{"write", func() { _ = os.MkdirAll(filepath.Dir(path), 0o755); _ = os.WriteFile(path, []byte(text), 0o644) }},
		{"append", func() {
			if f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err == nil {
				_, _ = f.WriteString(text)
				f.Close()
			}
		}},
		{"remove", func() { _ = os.RemoveAll(path) }},
		{"link", func() { _ = os.Remove(path); _ = os.Symlink(other, path) }},
		{"swap", func() {
			_ = os.Rename(path, w.path("swap.log"))
			_ = os.Rename(w.path(other), path)
			_ = os.Rename(w.path("swap.log"), w.path(other))
		}},
		{"pipe", func() { _ = os.Remove(path); _ = unix.Mkfifo(path, 0o644) }},
		{"mode", func() { _ = os.Chmod(path, 0o755) }},
		{"add", func() { run("add", "-A", "--", name) }},
		{"add -f", func() { run("add", "-f", "--", name) }},
		{"add -N", func() { run("add", "-N", "--", name) }},
		{"rm --cached", func() { run("rm", "-rfq", "--cached", "--", name) }},
		{"assume", func() { run("update-index", "--assume-unchanged", "--", name) }},
		{"skip", func() { run("update-index", "--skip-worktree", "--", name) }},
		{"see", func() { run("update-index", "--no-skip-worktree", "--no-assume-unchanged", "--", name) }},
		{"commit", func() { run("commit", "-qam", "agent") }},
		{"reset", func() { run("reset", "-q", "--hard", w.base) }},
		{"status", func() { run("-c", "x.y=z", "status") }},
		{"attributes", func() {
			_ = os.WriteFile(w.path(".gitattributes"), []byte([]string{"* text=auto\n", "* -text\n", ""}[w.IntN(3)]), 0o644)
		}},
		{"ignore", func() {
			_ = os.WriteFile(w.path(".gitignore"), []byte([]string{"*.log\n", "new\n", "d2/\n*.log\n"}[w.IntN(3)]), 0o644)
		}},
		{"ignore itself", func() {
			_ = os.MkdirAll(w.path("d2"), 0o755)
			_ = os.WriteFile(w.path("d2/.gitignore"), []byte("*\n"), 0o644)
		}},
	}
	one := steps[w.IntN(len(steps))]
	one.do()
	return fmt.Sprintf("%s %s (%s) %q", one.what, name, other, text)
}
