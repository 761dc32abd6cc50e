package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/config/disk"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// fillTree writes small files, a hundred to a folder.
func fillTree(t *testing.T, dir string, files int) {
	t.Helper()
	for i := range files {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("d%d", i/100), fmt.Sprintf("f%d", i)), fmt.Sprintf("file %d\n", i))
	}
}

// gitsAt counts the git processes whose directory is below dir.
func gitsAt(dir string) int {
	count := 0
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		cwd, err := os.Readlink(link)
		name, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "comm"))
		if err == nil && disk.Within(cwd, dir) && (strings.HasPrefix(string(name), "git") || strings.HasPrefix(string(name), "sleep")) {
			count++
		}
	}
	return count
}

// budgeted takes a snapshot within a budget. It fails where that is not kept at all.
func (w *turns) budgeted(ref string, b snapshot.Budget) (snapshot.Snapshot, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	s, err := w.m.Snapshots().TakeWithin(ctx, w.p.Path, ref, "m", w.scratch, b)
	if ctx.Err() != nil {
		w.t.Fatalf("nothing has stopped it: %v", err)
	}
	return s, err
}

func TestWithinBudgetOfBytes(t *testing.T) {
	w := newTurns(t, "")
	w.ageSettings()
	writeFile(t, w.path("big"), strings.Repeat("x", 3<<20))
	writeFile(t, w.path("a.txt"), "small\n")
	s, err := w.budgeted("refs/paw/s_agent/turn/99", snapshot.Budget{Bytes: 1 << 20})
	if !errors.Is(err, snapshot.ErrOverBudget) || s.Commit != w.base || !strings.Contains(err.Error(), "4 MiB") {
		t.Errorf("got %+v, %v", s, err)
	}
	if got := w.git("for-each-ref", "refs/paw"); got != "" {
		t.Errorf("there is %q", got)
	}
	if _, err := w.budgeted("refs/paw/s_agent/turn/99", snapshot.Budget{Bytes: 4 << 20}); err != nil {
		t.Error(err)
	}
	if _, err := w.budgeted("", snapshot.Budget{Bytes: 1 << 20}); err != nil {
		t.Errorf("what is saved already counts again: %v", err)
	}
	count := counting(t)
	n := 0
	waitFor(t, "the file to be old enough to be believed in", func() bool {
		n++
		_, err := w.budgeted(fmt.Sprintf("refs/paw/s_agent/old/%d", n), snapshot.Budget{})
		ran := strings.Join(count(), "\n")
		return err == nil && strings.Contains(ran, "status") && !strings.Contains(ran, "update-index")
	})
	if files := w.files(w.take().Commit); len(files["big"]) != 3<<20 || files["a.txt"] != "small\n" {
		t.Errorf("%d files", len(files))
	}
}

// wantNoLitter looks for what a git that was stopped could have left.
func (w *turns) wantNoLitter() {
	w.t.Helper()
	left, _ := filepath.Glob(filepath.Join(w.scratch, "scratch-*"))
	for _, pattern := range []string{"tmp_*", "*/tmp_*"} {
		more, _ := filepath.Glob(filepath.Join(w.m.Repository.CommonDir, "objects", pattern))
		left = append(left, more...)
	}
	if len(left) > 0 {
		w.t.Errorf("left %q", left)
	}
}

func TestWithinBudgetOfTimeStopsAtALargeFile(t *testing.T) {
	w := newTurns(t, "")
	content := make([]byte, 100<<20)
	rand.NewChaCha8([32]byte{1}).Read(content)
	if err := os.WriteFile(w.path("large"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, budget := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond} {
		_, err := w.budgeted("", snapshot.Budget{Time: budget})
		if !errors.Is(err, snapshot.ErrOverBudget) && (err != nil || budget < 100*time.Millisecond) {
			t.Errorf("%s: %v", budget, err)
		}
		w.wantNoLitter()
	}
}

// hang has files that end in .slow go through a filter that hangs until let go, and does not mind SIGTERM. The file
// reached is there once the filter was at work.
func (w *turns) hang() (reached string, letGo func()) {
	w.t.Helper()
	dir := realTemp(w.t)
	reached = filepath.Join(dir, "reached")
	attributes := filepath.Join(w.m.Repository.CommonDir, "info/attributes")
	writeFile(w.t, attributes, "*.slow filter=slow\n")
	w.git("config", "filter.slow.clean", fmt.Sprintf("cd %s; trap '' TERM; touch reached; while [ ! -e go ]; do sleep 60; done; cat", dir))
	w.ageSettings()
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(attributes, then, then); err != nil {
		w.t.Fatal(err)
	}
	return reached, func() { writeFile(w.t, filepath.Join(dir, "go"), "") }
}

// wantOverBudget takes a snapshot that cannot end, and looks that it does and leaves nothing.
func (w *turns) wantOverBudget(ref string, budget time.Duration) {
	w.t.Helper()
	s, err := w.budgeted(ref, snapshot.Budget{Time: budget})
	if !errors.Is(err, snapshot.ErrOverBudget) || s.Commit != w.base {
		w.t.Fatalf("got %+v, %v", s, err)
	}
	waitFor(w.t, "the processes to end", func() bool { return gitsAt(w.p.Path) == 0 })
	w.wantNoLitter()
}

func TestWithinBudgetOfTimeStopsAFilter(t *testing.T) {
	w := newTurns(t, "")
	_, letGo := w.hang()
	writeFile(t, w.path("x.slow"), "x\n")
	before := w.everything()
	w.wantOverBudget("refs/paw/s_agent/turn/99", 500*time.Millisecond)
	if after := w.everything(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the worktree has changed")
	}
	letGo()
	if files := w.files(w.take().Commit); files["x.slow"] != "x\n" {
		t.Errorf("got %q", files)
	}
}

func TestGitProcessesOfOneTurn(t *testing.T) {
	w := newTurns(t, "")
	ctx := t.Context()
	end := func(n int) error {
		if _, err := w.m.Snapshots().TakeWithin(ctx, w.p.Path, fmt.Sprintf("refs/paw/s_agent/turn/%d", n), "m", w.scratch, snapshot.Budget{}); err != nil {
			return err
		}
		_, err := w.m.Refs().Create(ctx, fmt.Sprintf("refs/tags/afk-s_agent-%d", n), w.base)
		return err
	}
	w.ageSettings()
	do := counted(t)
	do("claim", 1, func() error { _, err := w.m.Refs().Claim(ctx, "refs/paw/s_agent/claim/", 1, w.base); return err })
	do("turn tags", 0, func() error { _, err := w.m.Refs().List(ctx, "refs/tags/afk-"); return err })
	do("snapshot and tag, clean", 4, func() error { return end(1) })
	writeFile(t, w.path("new"), "x\n")
	do("snapshot and tag, dirty", 6, func() error { return end(2) })
	os.Remove(w.path("new"))
	os.Remove(w.path("a.txt"))
	do("snapshot and tag, deleted", 6, func() error { return end(3) })
	do("snapshot and tag, unchanged", 3, func() error { return end(4) })
	writeFile(t, w.path("a.txt"), "x\n")
	do("rewind", 14, func() error {
		_, err := w.m.Moves().Rewind(ctx, w.p.Path, "refs/paw/s_agent/turn/2", RewindOptions{Rescue: "refs/paw/s_agent/rescue/1"})
		return err
	})
	do("diff", 1, func() error {
		return w.m.Objects().Diff(ctx, w.p.Path, "refs/paw/s_agent/turn/1", "refs/paw/s_agent/turn/2", objects.DiffFormat{}, io.Discard)
	})
	do("delete refs", 1, func() error {
		return w.m.Refs().Delete(ctx, map[string]string{"refs/tags/afk-s_agent-1": w.base, "refs/tags/afk-s_agent-2": w.base})
	})
}
