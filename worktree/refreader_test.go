package worktree

import (
	"os"
	"path/filepath"
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
	r := refReader{commonDir: w.m.Repository.CommonDir}
	for ref, want := range map[string]string{
		"refs/heads/feature/one":      first,
		"refs/heads/one":              second,
		"refs/heads/feature/one-more": second,
		"refs/heads/x/feature/one":    second,
		"refs/tags/afk-s_agent-1":     tag,
		"refs/heads/feature":          "",
		"refs/heads/feature/on":       "",
		"refs/tags/afk-s_agent":       "",
		"peeled":                      "", // a word of the first line
	} {
		if got := r.resolve(ref); got != want {
			t.Errorf("%s: got %q, want %q", ref, got, want)
		}
	}
	if err := os.Remove(filepath.Join(r.commonDir, "packed-refs")); err != nil {
		t.Fatal(err)
	}
	if got := (&refReader{commonDir: r.commonDir}).resolve("refs/heads/one"); got != "" {
		t.Errorf("without packed-refs: got %q", got)
	}
}
