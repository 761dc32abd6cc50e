package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"paw/config/disk"
	"paw/worktree/snapshot"
)

func TestWithinAfterItsObjectsWerePruned(t *testing.T) {
	w := newTurns(t, "")
	writeFile(t, w.path("new"), "precious\n")
	then := time.Now().Add(-time.Hour)
	os.Chtimes(w.path("new"), then, then)
	if _, err := w.m.Snapshots().TakeWithin(t.Context(), w.p.Path, "", "m", w.scratch, snapshot.Budget{}); err != nil {
		t.Fatal(err)
	}
	w.git("gc", "--quiet", "--prune=now")
	w.ageSettings()
	for range 2 {
		if got := w.files(w.take().Commit)["new"]; got != "precious\n" {
			t.Errorf("new is %q", got)
		}
		w.git("update-ref", "-d", fmt.Sprintf("refs/paw/s_agent/turn/%d", w.n))
		w.git("gc", "--quiet", "--prune=now")
	}
}

func TestWithinSha256(t *testing.T) {
	dir := filepath.Join(realTemp(t), "repo")
	gitIn(t, filepath.Dir(dir), "init", "-q", "--object-format=sha256", dir)
	w := &turns{world: newWorldAt(t, dir), scratch: filepath.Join(realTemp(t), "scratch")}
	w.p = w.made("agent")
	if got := w.take(); got.Commit != w.base {
		t.Errorf("clean: %+v", got)
	}
	writeFile(t, w.path("new/x"), "x\n")
	w.in("update-index", "--skip-worktree", "a.txt")
	writeFile(t, w.path("a.txt"), "hidden\n")
	w.wantTree("dirty", w.take())
	w.wantTree("again", w.take())
	fillTree(t, w.path("many/files/with/a/long/name/that/fills/a/command/line"), 400)
	w.wantTree("many", w.take())
	if err := os.RemoveAll(w.path("many")); err != nil {
		t.Fatal(err)
	}
	w.wantTree("many gone", w.take())
}

// prunings are the moments of a snapshot at which somebody prunes all that no ref keeps yet. Where refs are to be synced to
// disk git itself makes the commit and the ref.
var prunings = []struct{ name, at, prune, fsync string }{
	{"before the tree", "write-tree", `"$real" gc --quiet --prune=now`, ""},
	{"after the tree", "write-tree", `"$real" "$@"; "$real" gc --quiet --prune=now; exit 0`, ""},
	{"before git makes the commit", "commit-tree", `"$real" gc --quiet --prune=now`, "reference"},
	{"before git makes the ref", "update-ref", `"$real" gc --quiet --prune=now`, "reference"},
}

func TestWithinIsTakenAgainAfterPrune(t *testing.T) {
	w := newTurns(t, "")
	writeFile(t, w.path("new"), "precious\n")
	once := filepath.Join(realTemp(t), "once")
	for _, c := range prunings {
		os.Remove(once)
		if c.fsync != "" {
			w.git("config", "core.fsync", c.fsync)
		}
		restore := shimmed(t, fmt.Sprintf(`case "$*" in *%s*) if mkdir "%s" 2>/dev/null; then %s; fi;; esac`, c.at, once, c.prune))
		ref := "refs/paw/s_agent/turn/" + c.at
		s, err := w.m.Snapshots().TakeWithin(t.Context(), w.p.Path, ref, "m "+c.name, w.scratch, snapshot.Budget{})
		restore()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !disk.Exists(once) {
			t.Fatalf("%s: nothing was pruned", c.name)
		}
		if w.files(s.Commit)["new"] != "precious\n" {
			t.Errorf("%s: the file is gone", c.name)
		}
		w.git("update-ref", "-d", ref)
		w.git("prune", "--expire=now")
	}
}

func TestWithinAtOnceInOneScratchFolder(t *testing.T) {
	w := newTurns(t, "")
	for round := range 5 {
		writeFile(t, w.path("new"), fmt.Sprintf("round %d\n", round))
		var all sync.WaitGroup
		for k := range 4 {
			all.Go(func() {
				s, err := w.m.Snapshots().TakeWithin(t.Context(), w.p.Path, fmt.Sprintf("refs/paw/s_agent/turn/%d%d", round, k), "m", w.scratch, snapshot.Budget{})
				if err != nil {
					t.Error(err)
					return
				}
				if got := w.git("cat-file", "blob", s.Commit+":new"); got != fmt.Sprintf("round %d", round) {
					t.Errorf("got %q", got)
				}
			})
		}
		all.Wait()
	}
	w.wantOnlyKept()
}

func TestWithinSweepsWhatAKilledOneLeft(t *testing.T) {
	w := newTurns(t, "")
	old, young := filepath.Join(w.scratch, "scratch-1"), filepath.Join(w.scratch, "scratch-2.lock")
	writeFile(t, old, "half")
	writeFile(t, young, "half")
	then := time.Now().Add(-2 * snapshot.ScratchAge)
	if err := os.Chtimes(old, then, then); err != nil {
		t.Fatal(err)
	}
	if _, err := w.m.Snapshots().TakeWithin(t.Context(), w.p.Path, "", "m", w.scratch, snapshot.Budget{}); err != nil {
		t.Fatal(err)
	}
	if disk.Exists(old) || !disk.Exists(young) {
		t.Errorf("old %v, young %v", disk.Exists(old), disk.Exists(young))
	}
}

func TestWithinInRepositoryWithColonInItsName(t *testing.T) {
	w := &turns{world: newWorldAt(t, filepath.Join(realTemp(t), `a:b "c`, "repo")), scratch: filepath.Join(realTemp(t), "scratch")}
	w.p = w.made("agent")
	writeFile(t, w.path("new"), "x\n")
	for i := range snapshot.PackedBatch {
		writeFile(t, w.path(fmt.Sprintf("many/%d", i)), fmt.Sprintf("%d\n", i))
	}
	w.wantTree("many", w.take())
	w.git("fsck", "--no-progress", "--full")
}
