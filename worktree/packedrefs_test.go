package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/worktree/gitdir"
)

func TestPackedRefIsFoundByItsWholeName(t *testing.T) {
	w := newWorld(t)
	first := w.base
	w.git("branch", "feature/one", "HEAD")
	w.commit("second")
	second := w.git("rev-parse", "HEAD")
	for _, name := range []string{"one", "feature/one-more", "x/feature/one"} {
		w.git("branch", name, "HEAD")
	}
	w.git("tag", "-a", "-m", "annotated", "afk-s_agent-1", first) // has a line of its own for the commit
	tag := w.git("rev-parse", "refs/tags/afk-s_agent-1")
	w.git("pack-refs", "--all")
	file := filepath.Join(w.m.Repository.CommonDir, "packed-refs")
	packed := readFile(t, file)
	if !strings.Contains(packed, " sorted") {
		t.Fatalf("packed-refs is\n%s", packed)
	}
	unsorted := strings.Replace(packed, " sorted", "", 1)
	for what, content := range map[string]string{"sorted": packed, "not known to be sorted": unsorted} {
		writeFile(t, file, content)
		wantPacked(t, what, w.m.Repository.CommonDir, map[string]string{
			"refs/heads/feature/one":      first,
			"refs/heads/one":              second,
			"refs/heads/feature/one-more": second,
			"refs/heads/x/feature/one":    second,
			"refs/tags/afk-s_agent-1":     tag,
			"refs/heads/feature":          "",
			"refs/heads/feature/on":       "",
			"refs/tags/afk-s_agent":       "",
			"peeled":                      "", // a word of the first line
			"refs/a":                      "", // before all
			"refs/z":                      "", // after all
		})
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wantPacked(t, "without packed-refs", w.m.Repository.CommonDir, map[string]string{"refs/heads/one": ""})
}

func wantPacked(t *testing.T, what, commonDir string, refs map[string]string) {
	t.Helper()
	r := gitdir.Refs{CommonDir: commonDir}
	for ref, want := range refs {
		if got := r.Resolve(ref); got != want {
			t.Errorf("%s: %s: got %q, want %q", what, ref, got, want)
		}
	}
}
