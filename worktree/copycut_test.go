package worktree

import (
	"path/filepath"
	"strings"
	"testing"

	"paw/config/disk"
)

// TestSetUpCopiesAgainWhatWasCut: of a copying that was killed nothing is in the worktree that is not whole, and what it has left
// beside it goes with the next one.
func TestSetUpCopiesAgainWhatWasCut(t *testing.T) {
	w, p := prepared(t, ".env\nown\nmodules\n")
	whole := strings.Repeat("0123456789\n", 1000)
	for _, name := range []string{".env", "own", "modules/one", "modules/deep/two"} {
		w.write(name, whole)
	}
	writeFile(t, filepath.Join(p.Path, "own"), "mine\n")
	writeFile(t, filepath.Join(p.Path, "modules/one"), "mine\n")
	writeFile(t, filepath.Join(stageOf(p.Path), ".env"), whole[:300])
	wantProblems(t, w.setUp(p, []string{".env", "own", "modules"}, nil))
	for name, want := range map[string]string{".env": whole, "own": "mine\n", "modules/one": "mine\n", "modules/deep/two": whole} {
		if got := readFile(t, filepath.Join(p.Path, name)); got != want {
			t.Errorf("%s has %d bytes, want %d", name, len(got), len(want))
		}
	}
	if disk.Exists(stageOf(p.Path)) {
		t.Error("what was cut is left")
	}
}
