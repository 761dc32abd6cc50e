package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/worktree/git"
)

// dirt inspects the worktree and checks that this changed nothing.
func (w *world) dirt(p Plan) Dirt {
	w.t.Helper()
	admin := gitIn(w.t, p.Path, "rev-parse", "--absolute-git-dir")
	before, index := tree(w.t, p.Path), tree(w.t, admin)
	i, err := w.m.inspect(w.t.Context(), Plan{Path: p.Path})
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(w.t, p.Path)) + cmp.Diff(index, tree(w.t, admin)); diff != "" {
		w.t.Errorf("looking changed\n%s", diff)
	}
	return i.Dirt
}

func wantDirt(t *testing.T, got, want Dirt) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got.Clean() != (got.Summary() == "") || got.Clean() {
		t.Errorf("clean is %v, summary %q", got.Clean(), got.Summary())
	}
}

func TestInspectCleanWorktree(t *testing.T) {
	w := newWorld(t)
	if got := w.dirt(w.made("agent")); !got.Clean() || got.Summary() != "" {
		t.Errorf("got %+v", got)
	}
}

func TestInspectFindsChangesWhateverTheConfigurationHides(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	w.git("config", "status.showUntrackedFiles", "no")
	w.git("config", "status.renames", "copies")
	writeFile(t, filepath.Join(p.Path, "a.txt"), "changed\n")
	writeFile(t, filepath.Join(p.Path, "new dir/one"), "x\n")
	writeFile(t, filepath.Join(p.Path, "staged file"), "x\n")
	gitIn(t, p.Path, "add", "staged file")
	gitIn(t, p.Path, "mv", "dir/b.txt", "moved")
	wantDirt(t, w.dirt(p), Dirt{Uncommitted: []string{"a.txt", "dir/b.txt", "moved", "staged file"}, Untracked: []string{"new dir/one"}})
}

func TestInspectFindsIgnoredFilesThatOnlyLieHere(t *testing.T) {
	w, p := prepared(t, ".env\n*.db\nbuild/\nmodules\nlinked\n")
	for name, content := range map[string]string{".env": "same\n", "other.db": "main\n", "modules/x": "x\n"} {
		w.write(name, content)
	}
	for name, content := range map[string]string{".env": "same\n", "other.db": "here\n", "sub/own.db": "x\n", "build/out": "x\n"} {
		writeFile(t, filepath.Join(p.Path, name), content)
	}
	os.Symlink(filepath.Join(w.Dir, "modules"), filepath.Join(p.Path, "modules"))
	os.Symlink("/somewhere", filepath.Join(p.Path, "linked"))
	wantDirt(t, w.dirt(p), Dirt{Ignored: []string{"linked", "other.db", "sub/own.db"}, Aside: []string{"build/"}})
}

func TestInspectFindsHiddenEdits(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	gitIn(t, p.Path, "update-index", "--assume-unchanged", "a.txt", "dir/b.txt")
	writeFile(t, filepath.Join(p.Path, "a.txt"), "hidden\n")
	wantDirt(t, w.dirt(p), Dirt{Hidden: []string{"a.txt"}})
}

func TestInspectFindsEmbeddedRepositories(t *testing.T) {
	w, p := prepared(t, "vendor/\n")
	gitIn(t, p.Path, "init", "-q", "inner")
	gitIn(t, p.Path, "init", "-q", "vendor")
	writeFile(t, filepath.Join(p.Path, "inner/f"), "x\n")
	writeFile(t, filepath.Join(p.Path, "vendor/f"), "x\n")
	wantDirt(t, w.dirt(p), Dirt{Embedded: []string{"inner", "vendor"}})
}

func TestInspectFindsDirtySubmodule(t *testing.T) {
	w, sub := newWorld(t), newWorld(t)
	w.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
	w.commit("submodule")
	p := w.made("agent")
	if got := w.dirt(p); !got.Clean() {
		t.Errorf("not checked out: %+v", got)
	}
	gitIn(t, p.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	if got := w.dirt(p); !got.Clean() {
		t.Errorf("clean: %+v", got)
	}
	writeFile(t, filepath.Join(p.Path, "sub/new"), "x\n")
	wantDirt(t, w.dirt(p), Dirt{Uncommitted: []string{"sub"}, Submodules: []string{"sub"}, Aside: []string{"submodule sub"}})
}

func TestInspectFindsUnfinishedOperations(t *testing.T) {
	for want, begin := range map[string][]string{
		"merge": {"merge", "-q", "main"}, "rebase": {"rebase", "-q", "main"},
		"cherry-pick": {"cherry-pick", "main"}, "bisect": {"bisect", "start"},
	} {
		t.Run(want, func(t *testing.T) {
			w := newWorld(t)
			p := w.made("agent")
			w.write("a.txt", "main\n")
			w.commit("main")
			writeFile(t, filepath.Join(p.Path, "a.txt"), "agent\n")
			gitIn(t, p.Path, "commit", "-qam", "agent")
			_ = git.Repo{Dir: p.Path}.Run(t.Context(), begin...)
			if got := w.dirt(p); got.Operation != want || got.Clean() {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestInspectFindsDetachedCommits(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	gitIn(t, p.Path, "checkout", "-q", "--detach")
	if got := w.dirt(p); !got.Clean() {
		t.Errorf("nothing is lost yet: %+v", got)
	}
	gitIn(t, p.Path, "commit", "-q", "--allow-empty", "-m", "loose")
	gitIn(t, p.Path, "update-ref", "refs/worktree/mine", "HEAD") // goes with the worktree
	if got := w.dirt(p); got.Detached == "" || got.Clean() {
		t.Errorf("got %+v", got)
	}
}
