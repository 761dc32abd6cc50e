package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	r := refReader{commonDir: commonDir}
	for ref, want := range refs {
		if got := r.resolve(ref); got != want {
			t.Errorf("%s: %s: got %q, want %q", what, ref, got, want)
		}
	}
}

// TestEveryPackedRefIsFound looks for each of many refs, and for those between them, in a file with lines for the commits
// of annotated tags, also at its end.
func TestEveryPackedRefIsFound(t *testing.T) {
	content := "# pack-refs with: peeled fully-peeled sorted \n"
	oid := func(i int) string { return fmt.Sprintf("%040x", i+1) }
	for i := range 300 {
		content += fmt.Sprintf("%s refs/tags/%03d\n", oid(i), i*2)
		if i%3 == 2 {
			content += "^" + oid(1000) + "\n"
		}
	}
	for n := range 600 {
		want := ""
		if n%2 == 0 {
			want = oid(n / 2)
		}
		if got := packedLine([]byte(content), fmt.Sprintf("refs/tags/%03d", n)); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
	for n := range len(content) { // git replaces the file as a whole, but who knows
		packedLine([]byte(content[:n]), "refs/tags/299")
	}
}
