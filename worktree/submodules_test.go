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

func TestRemoveRefusesWorkInSubmodules(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, sub string){
		"a commit, then deinit": func(t *testing.T, sub string) {
			gitIn(t, sub, "checkout", "-q", "-b", "mine")
			gitIn(t, sub, "commit", "-q", "--allow-empty", "-m", "mine")
			gitIn(t, filepath.Dir(sub), "submodule", "--quiet", "deinit", "-f", "sub")
		},
		"a stash": func(t *testing.T, sub string) {
			writeFile(t, filepath.Join(sub, "a.txt"), "mine\n")
			gitIn(t, sub, "stash", "-q")
		},
		"an ignored file": func(t *testing.T, sub string) { writeFile(t, filepath.Join(sub, ".env"), "mine\n") },
		"a hidden edit": func(t *testing.T, sub string) {
			gitIn(t, sub, "update-index", "--assume-unchanged", "a.txt")
			writeFile(t, filepath.Join(sub, "a.txt"), "mine\n")
		},
		"a bisect":     func(t *testing.T, sub string) { gitIn(t, sub, "bisect", "start") },
		"a repository": func(t *testing.T, sub string) { gitIn(t, sub, "init", "-q", ".env") },
	} {
		t.Run(name, func(t *testing.T) {
			w, p, sub := withSubmodule(t)
			spoil(t, sub)
			w.notRemoved(p, "1 submodule with changes (sub)", false)
		})
	}
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
			if !slices.Contains(removed.Aside, "the store of submodule sub") {
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

func TestRemoveSweepsSubmodulesThatAreWholeElsewhere(t *testing.T) {
	w, p, _ := withSubmodule(t)
	removed, err := w.m.Remove(t.Context(), p, Seen{})
	if err != nil || removed.Trash != "" {
		t.Errorf("got %+v, %v", removed, err)
	}
	waitFor(t, "the trash to be emptied", func() bool {
		left, _ := os.ReadDir(w.m.Trash().dir())
		return len(left) == 0
	})
}
