package worktree

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/worktree/git"
)

// fillTree writes files that compress by about a half.
func fillTree(t *testing.T, dir string, files, size int) {
	t.Helper()
	random := rand.NewChaCha8([32]byte{1})
	content := make([]byte, size)
	for i := range files {
		random.Read(content[:size/2])
		copy(content[size/2:], strings.Repeat(fmt.Sprintf("line %d\n", i), size/14+1))
		path := filepath.Join(dir, fmt.Sprintf("d%d", i/100), fmt.Sprintf("f%d", i))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// gitsAt counts the git processes whose directory is below dir.
func gitsAt(dir string) int {
	count := 0
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		cwd, err := os.Readlink(link)
		name, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "comm"))
		if err == nil && within(cwd, dir) && (strings.HasPrefix(string(name), "git") || strings.HasPrefix(string(name), "sleep")) {
			count++
		}
	}
	return count
}

// unit is how long one `git --version` takes here and now: the median of some.
func unit(t *testing.T) time.Duration {
	t.Helper()
	var all []time.Duration
	for range 21 {
		begin := time.Now()
		if _, _, _, err := git.Version(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func (w *turns) budgeted(ref string, b Budget) (Snapshot, time.Duration, error) {
	w.t.Helper()
	begin := time.Now()
	s, err := w.m.SnapshotWithin(w.t.Context(), w.p.Path, ref, "m", w.scratch, b)
	return s, time.Since(begin), err
}

func TestWithinBudgetOfBytes(t *testing.T) {
	w := newTurns(t, "")
	w.ageSettings()
	writeFile(t, w.path("big"), strings.Repeat("x", 3<<20))
	writeFile(t, w.path("a.txt"), "small\n")
	s, _, err := w.budgeted("refs/paw/s_agent/turn/99", Budget{Bytes: 1 << 20})
	if !errors.Is(err, ErrOverBudget) || s.Commit != w.base || !strings.Contains(err.Error(), "4 MiB") {
		t.Errorf("got %+v, %v", s, err)
	}
	if got := w.git("for-each-ref", "refs/paw"); got != "" {
		t.Errorf("there is %q", got)
	}
	if _, _, err := w.budgeted("refs/paw/s_agent/turn/99", Budget{Bytes: 4 << 20}); err != nil {
		t.Error(err)
	}
	if _, _, err := w.budgeted("", Budget{Bytes: 1 << 20}); err != nil {
		t.Errorf("what is saved already counts again: %v", err)
	}
	count := counting(t)
	n := 0
	waitFor(t, "the file to be old enough to be believed in", func() bool {
		n++
		_, _, err := w.budgeted(fmt.Sprintf("refs/paw/s_agent/old/%d", n), Budget{})
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
	_, spent, err := w.budgeted("", Budget{Time: 300 * time.Millisecond})
	if !errors.Is(err, ErrOverBudget) || spent > 2*time.Second {
		t.Errorf("%v after %v", err, spent)
	}
	w.wantNoLitter()
}

// TestWithinBudgetOfTimeStopsAFilter has a filter that hangs and does not mind
// SIGTERM.
func TestWithinBudgetOfTimeStopsAFilter(t *testing.T) {
	w := newTurns(t, "")
	w.git("config", "filter.slow.clean", "trap '' TERM; sleep 60; sleep 60")
	writeFile(t, w.path(".gitattributes"), "*.slow filter=slow\n")
	writeFile(t, w.path("x.slow"), "x\n")
	before := w.everything()
	s, spent, err := w.budgeted("refs/paw/s_agent/turn/99", Budget{Time: 500 * time.Millisecond})
	if !errors.Is(err, ErrOverBudget) || s.Commit != w.base {
		t.Errorf("got %+v, %v", s, err)
	}
	if spent > 3*time.Second {
		t.Errorf("took %v", spent)
	}
	waitFor(t, "the processes to end", func() bool { return gitsAt(w.p.Path) == 0 })
	w.wantNoLitter()
	if after := w.everything(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the worktree has changed")
	}
	w.git("config", "--unset", "filter.slow.clean")
	if files := w.files(w.take().Commit); files["x.slow"] != "x\n" {
		t.Errorf("got %q", files)
	}
}

func TestWithinBudgetOf20000Files(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 200 MB")
	}
	w := newTurns(t, "")
	fillTree(t, w.path("many"), 20000, 10000)
	base := unit(t)
	budget := Budget{Time: 3 * time.Second, Bytes: 512 << 20}
	for try := 1; ; try++ {
		s, spent, err := w.budgeted("refs/paw/s_agent/turn/99", budget)
		t.Logf("try %d: %v, %.0f x git --version, %v", try, spent, float64(spent)/float64(base), err)
		if spent > budget.Time+time.Second {
			t.Errorf("took %v", spent)
		}
		waitFor(t, "git to end", func() bool { return gitsAt(w.p.Path) == 0 })
		w.wantNoLitter()
		if err == nil {
			if got := strings.Count(w.git("ls-tree", "-r", "--name-only", s.Commit), "\n") + 1; got != 20003 {
				t.Errorf("%d files", got)
			}
			break
		}
		if !errors.Is(err, ErrOverBudget) || try == 20 {
			t.Fatal(err)
		}
	}
	base = unit(t)
	for _, what := range []string{"again", "again", "one more file"} {
		if what == "one more file" {
			writeFile(t, w.path("many/d7/more"), "x\n")
		}
		s, spent, err := w.budgeted("", budget)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v, %.0f x git --version", what, spent, float64(spent)/float64(base))
		if spent > time.Duration(1000)*base {
			t.Errorf("%s: %v", what, spent)
		}
		if got := strings.Count(w.git("ls-tree", "-r", "--name-only", s.Commit), "\n") + 1; got < 20003 {
			t.Errorf("%d files", got)
		}
	}
}

func TestGitProcessesOfOneTurn(t *testing.T) {
	w := newTurns(t, "")
	ctx := t.Context()
	end := func(n int) error {
		if _, err := w.m.SnapshotWithin(ctx, w.p.Path, fmt.Sprintf("refs/paw/s_agent/turn/%d", n), "m", w.scratch, Budget{}); err != nil {
			return err
		}
		_, err := w.m.CreateRef(ctx, fmt.Sprintf("refs/tags/afk-s_agent-%d", n), w.base)
		return err
	}
	w.ageSettings()
	count := counting(t)
	do := func(what string, most int, f func() error) {
		t.Helper()
		if err := f(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		wantCount(t, what, count(), most)
	}
	do("claim", 0, func() error { _, err := w.m.Claim(ctx, "refs/paw/s_agent/claim/", 1, w.base); return err })
	do("turn tags", 0, func() error { _, _, err := TagNames(w.m.Repository.CommonDir, "afk-"); return err })
	do("snapshot and tag, clean", 1, func() error { return end(1) })
	writeFile(t, w.path("new"), "x\n")
	do("snapshot and tag, dirty", 3, func() error { return end(2) })
	os.Remove(w.path("new"))
	os.Remove(w.path("a.txt"))
	do("snapshot and tag, deleted", 3, func() error { return end(3) })
	do("snapshot and tag, unchanged", 1, func() error { return end(4) })
	writeFile(t, w.path("a.txt"), "x\n")
	do("rewind", 13, func() error {
		_, err := w.m.Rewind(ctx, w.p.Path, "refs/paw/s_agent/turn/2", "refs/paw/s_agent/rescue/1")
		return err
	})
	do("diff", 1, func() error {
		return w.m.Diff(ctx, w.p.Path, "refs/paw/s_agent/turn/1", "refs/paw/s_agent/turn/2", false, false, io.Discard)
	})
	do("delete refs", 1, func() error {
		return w.m.DeleteRefs(ctx, map[string]string{"refs/tags/afk-s_agent-1": w.base, "refs/tags/afk-s_agent-2": w.base})
	})
}

func TestCostOfOneTurnEnd(t *testing.T) {
	w := newTurns(t, "")
	n := 0
	end := func() time.Duration {
		n++
		begin := time.Now()
		if _, err := w.m.SnapshotWithin(t.Context(), w.p.Path, fmt.Sprintf("refs/paw/s_agent/turn/%d", n), "m", w.scratch, Budget{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.CreateRef(t.Context(), fmt.Sprintf("refs/tags/afk-s_agent-%d", n), w.base); err != nil {
			t.Fatal(err)
		}
		return time.Since(begin)
	}
	for _, what := range []string{"clean", "dirty"} {
		if what == "dirty" {
			writeFile(t, w.path("new"), "x\n")
		}
		var all []float64
		for range 15 {
			base := unit(t)
			all = append(all, float64(end())/float64(base))
		}
		slices.Sort(all)
		t.Logf("turn end, %s: %.1f x git --version, the best %.1f", what, all[7], all[0])
		if most := map[string]float64{"clean": 10, "dirty": 20}[what]; all[0] > most { // the machine is shared
			t.Errorf("%s: %.1f x git --version, at most %.0f wanted", what, all[0], most)
		}
	}
}
