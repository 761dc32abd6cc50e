package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestCopyTakesLittleMoreThanCp compares the copy of 20,000 small files in memory with cp -a, in pairs. It runs where PAW_COPY_PAIRS
// says how many.
func TestCopyTakesLittleMoreThanCp(t *testing.T) {
	var pairs int
	if _, err := fmt.Sscan(os.Getenv("PAW_COPY_PAIRS"), &pairs); err != nil {
		t.Skip("takes long")
	}
	at, err := os.MkdirTemp("/dev/shm", "paw")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(at) })
	w := newWorldAt(t, filepath.Join(at, "repo"))
	w.write(".gitignore", "node_modules/\n")
	w.commit("ignore")
	for i := range 20_000 {
		w.write(fmt.Sprintf("node_modules/p%d/lib/f%d.js", i/40, i%40), fmt.Sprintf("%01000d\n", i))
	}
	plan := w.made("agent")
	var ratios []float64
	for i := range pairs {
		to := filepath.Join(plan.Path, "node_modules")
		began := time.Now()
		wantProblems(t, w.setUp(plan, []string{"node_modules"}, nil))
		own := time.Since(began)
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		if out, err := exec.CommandContext(t.Context(), "cp", "-a", filepath.Join(w.Dir, "node_modules"), to).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		cp := time.Since(began)
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		ratios = append(ratios, own.Seconds()/cp.Seconds())
		t.Logf("pair %d: %v, cp -a %v: %.2f", i+1, own.Round(time.Millisecond), cp.Round(time.Millisecond), ratios[i])
	}
	slices.Sort(ratios)
	if median := ratios[len(ratios)/2]; median > 1.2 {
		t.Errorf("median %.2f, want at most 1.2", median)
	}
}
