package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/worktree/gittest"
)

// A copying was killed: what it had begun is copied anew, and what is somebody's own stays.
func TestSetUpCopiesAgainWhatWasCut(t *testing.T) {
	w, p := prepared(t, ".env\nown\nlate\nmodules\n")
	whole := strings.Repeat("0123456789\n", 100_000)
	for name, there := range map[string]string{"modules/cut": whole[:300_000], "modules/empty": "", "late": whole, "own": "mine\n", ".env": whole[:len(whole)-1] + "x"} {
		w.write(name, whole)
		if err := os.Chtimes(filepath.Join(w.Dir, name), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(p.Path, name), there)
	}
	if err := os.Chmod(filepath.Join(w.Dir, "late"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, copyingMark(gittest.GitDir(t, p.Path)), "")
	wantProblems(t, w.setUp(p, []string{".env", "own", "late", "modules"}, nil))
	for name, want := range map[string]string{"modules/cut": whole, "modules/empty": whole, "late": whole, "own": "mine\n", ".env": whole[:len(whole)-1] + "x"} {
		if got := readFile(t, filepath.Join(p.Path, name)); got != want {
			t.Errorf("%s has %d bytes, want %d", name, len(got), len(want))
		}
	}
	if info, err := os.Stat(filepath.Join(p.Path, "late")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("late: %v %v", info, err)
	}
	writeFile(t, filepath.Join(p.Path, "own"), whole[:5]) // by hand, after a copying that ended
	wantProblems(t, w.setUp(p, []string{"own"}, nil))
	if got := readFile(t, filepath.Join(p.Path, "own")); got != whole[:5] {
		t.Errorf("own has %d bytes", len(got))
	}
}
