package worktree

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSetUpCopiesWhatIsLeft copies a folder of which a part is there, with a file that git follows, into a worktree.
func TestSetUpCopiesWhatIsLeft(t *testing.T) {
	w := newWorld(t)
	w.write("deps/kept", "followed\n")
	w.write(".gitignore", "deps/\n")
	w.git("add", "-f", "deps/kept")
	w.commit("ignore")
	p := w.made("agent")
	w.write("deps/kept", "changed in the main checkout\n")
	for _, name := range []string{"deps/a/1", "deps/a/b/2", "deps/3"} {
		w.write(name, "main\n")
	}
	writeFile(t, filepath.Join(p.Path, "deps/a/1"), "agent\n")
	var told []string
	problems := w.m.Setups().SetUp(t.Context(), p.Path, Setup{Copy: []string{"deps"}, Copied: func(all []string) { told = all }})
	wantProblems(t, problems)
	for name, want := range map[string]string{"deps/kept": "followed\n", "deps/a/1": "agent\n", "deps/a/b/2": "main\n", "deps/3": "main\n"} {
		if got := readFile(t, filepath.Join(p.Path, name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if diff := cmp.Diff([]string{"deps/3", "deps/a/b/2"}, told); diff != "" {
		t.Error(diff)
	}
}
