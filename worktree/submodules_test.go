package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withSubmodule is a worktree with the submodule "sub" checked out, whose commits
// its remote has.
func withSubmodule(t *testing.T) (w *world, p Plan, sub string) {
	t.Helper()
	w, other := newWorld(t), newWorld(t)
	other.write(".gitignore", ".env\n")
	other.commit("ignore")
	w.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", other.Dir, "sub")
	w.commit("submodule")
	p = w.made("agent")
	gitIn(t, p.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	return w, p, filepath.Join(p.Path, "sub")
}

func TestRemoveKeepsStoresOfSubmodules(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, sub string) string{
		"a commit that only a tag holds": func(t *testing.T, sub string) string {
			gitIn(t, sub, "tag", "mine", gitIn(t, sub, "commit-tree", "HEAD^{tree}", "-m", "mine"))
			return gitIn(t, sub, "rev-parse", "mine")
		},
		"a commit that only the log has": func(t *testing.T, sub string) string {
			gitIn(t, sub, "commit", "-q", "--allow-empty", "-m", "mine")
			commit := gitIn(t, sub, "rev-parse", "HEAD")
			gitIn(t, sub, "reset", "-q", "--hard", "HEAD^")
			return commit
		},
		"a commit, then deinit": func(t *testing.T, sub string) string {
			gitIn(t, sub, "checkout", "-q", "-b", "mine")
			gitIn(t, sub, "commit", "-q", "--allow-empty", "-m", "mine")
			commit := gitIn(t, sub, "rev-parse", "HEAD")
			gitIn(t, filepath.Dir(sub), "submodule", "--quiet", "deinit", "-f", "sub")
			return commit
		},
		"a stash": func(t *testing.T, sub string) string {
			writeFile(t, filepath.Join(sub, "a.txt"), "mine\n")
			gitIn(t, sub, "stash", "-q")
			return gitIn(t, sub, "rev-parse", "stash")
		},
		"staged, then deinit": func(t *testing.T, sub string) string {
			writeFile(t, filepath.Join(sub, "new"), "mine\n")
			gitIn(t, sub, "add", "new")
			blob := gitIn(t, sub, "rev-parse", ":new")
			gitIn(t, filepath.Dir(sub), "submodule", "--quiet", "deinit", "-f", "sub")
			return blob
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, p, sub := withSubmodule(t)
			object := spoil(t, sub)
			removed, err := w.m.Remove(t.Context(), p, Seen{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(removed.Aside, "submodule sub") {
				t.Errorf("named is %q", removed.Aside)
			}
			sweep(t.Context(), w.m.Trash().dir())
			stores, _ := filepath.Glob(filepath.Join(w.m.Trash().dir(), "*", "*", "modules", "sub"))
			if len(stores) != 1 {
				t.Fatalf("kept are %q", stores)
			}
			if kind := gitIn(t, stores[0], "--git-dir=.", "--work-tree=.", "cat-file", "-t", object); strings.TrimSpace(kind) == "" {
				t.Error("the object is gone")
			}
		})
	}
}

func TestRemoveKeepsFilesInSubmodules(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, sub string){
		"an ignored file": func(t *testing.T, sub string) { writeFile(t, filepath.Join(sub, ".env"), "mine\n") },
		"a hidden edit": func(t *testing.T, sub string) {
			gitIn(t, sub, "update-index", "--assume-unchanged", "a.txt")
			writeFile(t, filepath.Join(sub, "a.txt"), "mine\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, p, sub := withSubmodule(t)
			spoil(t, sub)
			removed, err := w.m.Remove(t.Context(), p, Seen{})
			if err != nil || !slices.Equal(removed.Aside, []string{"submodule sub"}) {
				t.Fatalf("got %+v, %v", removed, err)
			}
			sweep(t.Context(), w.m.Trash().dir())
			mine := 0
			for _, file := range []string{".env", "a.txt"} {
				content, _ := os.ReadFile(filepath.Join(removed.Trash, "sub", file))
				mine += strings.Count(string(content), "mine")
			}
			if mine != 1 {
				t.Error("the file is gone")
			}
		})
	}
}
