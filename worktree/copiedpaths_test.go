package worktree

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathsToMainNamesCopiesThatLeadBack(t *testing.T) {
	w, p := prepared(t, ".venv\nbuild\nnode_modules\n")
	for name, content := range map[string]string{
		".venv/lib/site-packages/_app.pth": w.Dir + "/src\n",
		"build/CMakeCache.txt":             "HOME:PATH=" + w.Dir + "-other\n",
		"node_modules/a/index.js":          w.Dir + "\n",
	} {
		w.write(name, content)
	}
	wantProblems(t, w.setUp(p, []string{".venv", "build", "node_modules"}, nil))
	got, err := w.m.Setups().PathsToMain(t.Context(), p.Path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(".venv", "lib/site-packages/_app.pth")}, got); diff != "" {
		t.Error(diff)
	}
}

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
